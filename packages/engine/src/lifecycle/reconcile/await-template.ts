import { sentenceOf } from '@lodge/domain';
import type { Template } from '@lodge/ports';
import { fail } from './end.ts';
import type { Pass } from './pass.ts';

const lookEveryMs = 1000;

/**
 * Returns the current template, and says in the record what the agent waits for. The wait for a build has the build's own
 * bound (`BuildBound`); the wait after a failed build ends at the deadline. Returns null when the agent was failed instead.
 */
export async function awaitTemplate(pass: Pass, deadline: AbortSignal): Promise<Template | null> {
  const { templates } = pass.deps;
  const kind = pass.agent.runtimeKind;
  const current = templates.current(kind);
  if (current) return current;
  let said: string | null = null;
  const say = async (): Promise<void> => {
    const progress = templates.progress(kind);
    const step = progress.state === 'failed' ? 'the last attempt failed, it will be repeated' : progress.step;
    if (step === said) return;
    const first = said === null;
    said = step;
    const event = { type: 'agent.waiting', data: { runtime: progress.runtime, step } } as const;
    const statusReason = { code: 'waiting_for_template', message: sentenceOf(event)!, at: new Date() } as const;
    await pass.observe(first ? { status: 'provisioning', statusReason, event } : { statusReason });
  };
  await say();
  const late = new AbortController();
  let saying = Promise.resolve();
  const look = (): void => {
    saying = saying.then(say).catch(() => undefined);
    if (deadline.aborted && templates.progress(kind).state === 'failed') late.abort();
  };
  const ticker = setInterval(look, lookEveryMs).unref();
  try {
    return await templates.whenReady(kind, AbortSignal.any([pass.signal, late.signal]));
  } catch (error) {
    if (pass.signal.aborted) throw error;
  } finally {
    clearInterval(ticker);
    // It must not be written over what comes next.
    await saying;
  }
  const message = 'The template this agent is made from was not ready in time.';
  await fail(pass, { code: 'provisioning_timeout', message });
  return null;
}
