/**
 * From a cold guest to one that is worth cloning: configured, warm, suspended.
 *
 *   configure    the file is written; the guest's daemon sees it and starts the gateway
 *   start        until it is ready: 9-22 s natively, minutes under emulation
 *   warm         every path a first request takes is walked once, then chats until they stop getting faster
 *   drop         disk synced, page cache dropped, so that the template's memory file stays small
 *   re-warm      one more turn a provider brings back the pages that matter
 *   suspend      the gateway closes its door and finishes what it still does
 *
 * OpenClaw's worker threads, which a first turn pays for, are in the template too: the image keeps it from ending idle ones.
 */
import { randomBytes } from 'node:crypto';
import type { GuestAddress, LlmApi, ReportProgress } from '@lodge/ports';
import { emptyRuntimeLog } from '../guest-calls.ts';
import { awaitReady } from '../ready.ts';
import { Warmer } from '../warmer.ts';
import { authProfiles, authProfilesName } from './auth-profiles.ts';
import { configPath, guestApis, mainAgent, modelFor, openclawConfig, workspaceOf } from './config.ts';
import type { OpenclawFacts } from './facts.ts';
import { openclawGuest } from './openclaw-guest.ts';
import { suspend } from './suspension.ts';

const suspendTimeoutMs = 90_000;

export async function prepareTemplate(
  guest: GuestAddress,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<OpenclawFacts> {
  const token = randomBytes(32).toString('hex');
  const runtime = openclawGuest(guest, token);
  progress('writing the configuration of OpenClaw');
  const workspace = workspaceOf(mainAgent);
  const secret = { mode: 0o600, owner: 'agent' } as const;
  await runtime.guest.writeFile(`${workspace}/${authProfilesName}`, authProfiles, secret, { signal });
  await runtime.guest.writeFile(configPath, openclawConfig(token), secret, { signal });
  await awaitReady(runtime, signal, (seconds) => progress(`waiting for OpenClaw to start (${seconds} s)`));
  const model = (api: LlmApi): string => modelFor({ api, contextWindow: null });
  const warmer = new Warmer(runtime, { apis: guestApis, modelFor: model, progress, signal });
  await warmer.walkAllPaths();
  await warmer.settle();
  progress('writing the guest out to its disk');
  await runtime.guest.sync(true, { signal });
  await warmer.refresh();
  progress('suspending OpenClaw');
  const suspensionId = await suspend(runtime, suspendTimeoutMs, signal);
  await emptyRuntimeLog(runtime, signal);
  return { token, suspensionId, apis: guestApis, pictures: true };
}
