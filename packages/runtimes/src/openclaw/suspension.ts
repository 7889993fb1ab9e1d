/**
 * OpenClaw's handshake for hosts that freeze it. A suspended gateway serves nothing but these calls; the suspension ends
 * by itself two minutes after it was made, by the guest's clock, so a clone whose clock was set may be open already.
 */
import { until, type GuestRuntime } from './guest-runtime.ts';

const requestId = 'lodge-template';
const suspendTimeoutMs = 90_000;
const resumeTimeoutMs = 60_000;

/** Closes the gateway and waits until it does nothing any more. Resolves with the suspension's id. */
export async function suspend(runtime: GuestRuntime, signal: AbortSignal): Promise<string> {
  const wait = { what: 'suspend', timeoutMs: suspendTimeoutMs, attemptMs: 30_000, signal };
  const { suspensionId, status } = await until(runtime, { ...wait, pauseMs: 2_000 }, async (options) => {
    const answer = await runtime.gateway.rpc('gateway.suspend.prepare', { requestId, drain: true }, options);
    return typeof answer['suspensionId'] === 'string'
      ? { suspensionId: answer['suspensionId'], status: answer['status'] }
      : `it is ${String(answer['status'])}`;
  });
  if (status === 'ready') return suspensionId;
  await until(runtime, { ...wait, pauseMs: 200 }, async (options) => {
    const answer = await runtime.gateway.rpc('gateway.suspend.status', { suspensionId }, options);
    return answer['status'] === 'ready' ? answer : `it is ${String(answer['status'])}: ${blockers(answer['blockers'])}`;
  });
  return suspensionId;
}

/** Opens the gateway again. Done already is done. */
export async function resume(runtime: GuestRuntime, suspensionId: string, signal: AbortSignal): Promise<void> {
  const wait = { what: 'resume', timeoutMs: resumeTimeoutMs, pauseMs: 100, attemptMs: 20_000, signal };
  await until(runtime, wait, (options) => runtime.gateway.rpc('gateway.suspend.resume', { suspensionId }, options));
}

function blockers(value: unknown): string {
  const kinds = Array.isArray(value) ? value.map((blocker: { kind?: unknown }) => String(blocker?.kind)) : [];
  return kinds.join(', ');
}
