import type { AgentRuntime, RuntimeHealth } from '@lodge/engine/ports';
import { guestClient, GuestError } from '@lodge/guest';
import { chatTarget } from './chat-target.ts';
import { configVersion, gatewayPort, openclawVersion } from './config.ts';
import { readFacts } from './facts.ts';
import { bearer, GatewayError } from './gateway.ts';
import { guestRuntime, type GuestRuntime } from './guest-runtime.ts';
import { logLines } from './log-lines.ts';
import { awaitReady } from './ready.ts';
import { reopen, resume, suspend } from './suspension.ts';
import { prepareTemplate } from './template.ts';
import { startWarmupLlm } from './warmup-llm.ts';

/** Rises with every change to how a template is warmed, beside what `configVersion` counts. */
const warmUpVersion = 2;
/** How long a turn in hand may hold up a stop. */
const suspendTimeoutMs = 60_000;
/** From SIGTERM on. OpenClaw's own limit for the work in hand is five minutes. */
const endTimeoutMs = 10_000;
const lastSyncMs = 20_000;
/** A gateway at work on an emulated CPU is seconds late. */
const healthTimeoutMs = 10_000;
const logChunkBytes = 256 * 1024;

/**
 * OpenClaw as an agent's runtime.
 *
 * Nothing of an agent is written into its guest: provider API and context window are chosen with each request by a header,
 * the model itself by the broker. A change of an agent's model is in effect with its next request.
 *
 * Tools a model is offered: `exec {command}` runs a shell command in the workspace as the agent's user, without approval;
 * `write {path, content}`, `read {path}`, `edit {path, edits: [{oldText, newText}]}`, `ls {path?}`, `apply_patch {input}`,
 * `process {action, sessionId?}`; through `tool_call {id, args}` also `web_fetch` and `session_status`. Relative paths are
 * of the workspace.
 */
export function createOpenclawRuntime(): AgentRuntime {
  return {
    name: 'openclaw',
    version: openclawVersion,
    templateVariant: `openclaw-${openclawVersion}-config-${configVersion}-warm-up-${warmUpVersion}`,
    startWarmupLlm,
    prepareTemplate: async ({ address }, progress, signal) => ({
      ...(await prepareTemplate(address, progress, signal)),
    }),
    async resume({ address }, facts, _settings, signal) {
      const { token, suspensionId } = readFacts(facts);
      await resume(guestRuntime(address, token), suspensionId, signal);
    },
    async suspend({ address }, facts, signal) {
      const { token } = readFacts(facts);
      const runtime = guestRuntime(address, token);
      const suspensionId = await suspend(runtime, suspendTimeoutMs, signal);
      try {
        await runtime.guest.sync(true, { signal });
      } catch (error) {
        await reopen(runtime, suspensionId);
        throw error;
      }
      return { token, suspensionId };
    },
    async flush({ address }, signal) {
      await guestClient(address).sync(false, { signal });
    },
    async shutdown({ address }, _facts, signal) {
      const guest = guestClient(address);
      await guest.stopRuntime(endTimeoutMs, { signal }).catch(unanswered);
      await guest.sync(false, { timeoutMs: lastSyncMs, signal }).catch(unanswered);
    },
    async health({ address }, facts, signal) {
      return health(guestRuntime(address, readFacts(facts).token), signal);
    },
    async readLog({ address }, offset, signal) {
      const { text, nextOffset } = await guestClient(address).logs('runtime', offset, logChunkBytes, { signal });
      return { lines: logLines(text), nextOffset };
    },
    async awaitBoot({ address }, facts, _settings, signal) {
      await awaitReady(guestRuntime(address, readFacts(facts).token), signal, () => undefined);
    },
    // Nothing of an agent lies in its guest.
    inGuest: () => null,
    apply: () => Promise.resolve(),
    chatEndpoint({ address }, facts, settings, turn) {
      const { model, headers } = chatTarget(settings, turn);
      return {
        baseUrl: `http://${address}:${gatewayPort}/v1`,
        headers: { ...bearer(readFacts(facts).token), ...headers },
        model,
      };
    },
    web({ address }, facts, _settings, page) {
      if (page !== 'gateway') return null;
      return { origin: `http://${address}:${gatewayPort}`, headers: bearer(readFacts(facts).token) };
    },
  };
}

/** A guest that does not answer, or of an older image, is ended without having been asked. */
function unanswered(error: unknown): void {
  if (!(error instanceof GuestError)) throw error;
}

async function health({ gateway, guest }: GuestRuntime, signal: AbortSignal): Promise<RuntimeHealth> {
  const options = { timeoutMs: healthTimeoutMs, signal };
  const [failing, facts] = await Promise.all([
    gateway.failing(options).catch((error: unknown) => {
      if (error instanceof GatewayError) return error.message;
      throw error;
    }),
    guest.health(options).catch((error: unknown) => {
      unanswered(error);
      return null;
    }),
  ]);
  return { gateway: failing, oomKills: facts?.oomKills ?? null, diskFreeMib: facts?.diskFreeMib ?? null };
}
