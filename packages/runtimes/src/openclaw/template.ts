/**
 * Brings a cold guest to a state worth cloning: configured, warm, suspended.
 *
 *   configure    the file is written; the guest's daemon sees it and starts the gateway
 *   start        until it is ready: 9-22 s natively, minutes under emulation
 *   warm         every path of a first request is walked once, then chats until they stop getting faster
 *   drop         disk synced, page cache dropped, so that the template's memory file stays small
 *   re-warm      one more turn a provider brings back the pages that matter
 *   suspend      the gateway closes its door and finishes its work
 *
 * The early template is suspended after its first turn. Its guest continues with the rest.
 *
 * OpenClaw's worker threads, which a first turn pays for, are in the template too. The image keeps OpenClaw from ending idle
 * ones.
 */
import { randomBytes } from 'node:crypto';
import type { EarlyTemplate, GuestAddress, LlmApi, ReportProgress } from '@lodge/ports';
import { emptyRuntimeLog } from '../guest-calls.ts';
import { awaitReady } from '../ready.ts';
import { Warmer } from '../warmer.ts';
import { authProfiles, authProfilesName } from './auth-profiles.ts';
import { configPath, guestApis, mainAgent, modelFor, openclawConfig, workspaceOf } from './config.ts';
import { readFacts } from './facts.ts';
import type { OpenclawFacts } from './facts.ts';
import { openclawGuest } from './openclaw-guest.ts';
import type { OpenclawGuest } from './openclaw-guest.ts';
import { resume, suspend } from './suspension.ts';

const suspendTimeoutMs = 90_000;

export async function prepareTemplate(
  guest: GuestAddress,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<OpenclawFacts> {
  const step = { progress, signal };
  const runtime = await start(guest, step);
  await warm(runtime, step);
  return close(runtime, step);
}

/** The early template; its variant rises with every change. */
export const early: EarlyTemplate = {
  variant: '1',
  prepare: async (guest, progress, signal) => ({ ...(await prepareEarly(guest, progress, signal)) }),
  goOn: async (guest, facts, progress, signal) => ({ ...(await goOn(guest, readFacts(facts), progress, signal)) }),
};

async function prepareEarly(
  guest: GuestAddress,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<OpenclawFacts> {
  const step = { progress, signal };
  const runtime = await start(guest, step);
  await warmerOf(runtime, step).first();
  await runtime.guest.sync(false, { signal });
  return close(runtime, step);
}

async function goOn(
  guest: GuestAddress,
  { token, suspensionId }: OpenclawFacts,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<OpenclawFacts> {
  const step = { progress, signal };
  const runtime = openclawGuest(guest, token);
  await resume(runtime, suspensionId, signal);
  await warm(runtime, step);
  return close(runtime, step);
}

interface Step {
  readonly progress: ReportProgress;
  readonly signal: AbortSignal;
}

async function start(guest: GuestAddress, { progress, signal }: Step): Promise<OpenclawGuest> {
  const token = randomBytes(32).toString('hex');
  const runtime = openclawGuest(guest, token);
  progress('writing the configuration of OpenClaw');
  const workspace = workspaceOf(mainAgent);
  const secret = { mode: 0o600, owner: 'agent' } as const;
  await runtime.guest.writeFile(`${workspace}/${authProfilesName}`, authProfiles, secret, { signal });
  await runtime.guest.writeFile(configPath, openclawConfig(token), secret, { signal });
  await awaitReady(runtime, signal, (seconds) => progress(`waiting for OpenClaw to start (${seconds} s)`));
  return runtime;
}

async function warm(runtime: OpenclawGuest, step: Step): Promise<void> {
  const warmer = warmerOf(runtime, step);
  await warmer.walkAllPaths();
  await warmer.settle();
  step.progress('writing the guest out to its disk');
  await runtime.guest.sync(true, { signal: step.signal });
  await warmer.refresh();
}

async function close(runtime: OpenclawGuest, { progress, signal }: Step): Promise<OpenclawFacts> {
  progress('suspending OpenClaw');
  const suspensionId = await suspend(runtime, suspendTimeoutMs, signal, { awaitUpkeep: true });
  await emptyRuntimeLog(runtime, signal);
  return { token: runtime.token, suspensionId, apis: guestApis, pictures: true };
}

function warmerOf(runtime: OpenclawGuest, step: Step): Warmer {
  const model = (api: LlmApi): string => modelFor({ api, contextWindow: null });
  return new Warmer(runtime, { apis: guestApis, modelFor: model, ...step });
}
