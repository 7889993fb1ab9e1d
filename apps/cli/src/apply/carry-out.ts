/**
 * Carries a plan out: webhooks, then agents, several at once, then what needs all of them to be there. An agent whose step fails
 * is left where it is, and the others go on. Nothing is kept here: a run that was killed is followed by another plan.
 */
import type { Lodge } from '@lodge/sdk';
import { failureOf } from '../failure.ts';
import type { Failure } from '../failure.ts';
import type { Run } from '../run.ts';
import { withProgress } from '../terminal/progress.ts';
import { safeLine } from '../terminal/safe.ts';
import type { AgentPlan, Plan } from './plan.ts';
import { pooled } from './pool.ts';
import type { SecretsOut } from './secrets-out.ts';
import type { Acting, Step } from './step.ts';

export interface Outcome {
  readonly done: number;
  readonly failed: readonly Failed[];
  /** Ids of agents that were made, by name. */
  readonly made: ReadonlyMap<string, string>;
}
export interface Failed {
  /** Null: a webhook. */
  readonly agent: string | null;
  readonly what: string;
  readonly failure: Failure;
}

interface Work {
  readonly run: Run;
  readonly acting: Acting;
  readonly failed: Failed[];
  done: number;
}

export function carryOut(
  run: Run,
  lodge: Lodge,
  plan: Plan,
  { secretsOut, atOnce }: { readonly secretsOut: SecretsOut | null; readonly atOnce: number },
): Promise<Outcome> {
  return withProgress(run.out, 'Applying', async (progress) => {
    const ids = new Map(plan.agents.flatMap(({ name, id }) => (id === null ? [] : [[name, id] as const])));
    const acting: Acting = { lodge, call: run.call, ids, secretsOut, say: () => undefined };
    const work: Work = { run, acting, failed: [], done: 0 };
    for (const step of plan.webhooks) {
      const done = await doSteps(work, null, [step], '');
      work.done += done;
    }
    const changing = plan.agents.filter(({ steps }) => steps.length > 0);
    let ended = 0;
    for (const isLast of [false, true]) {
      const some = changing.filter(({ steps }) => steps.some((step) => (step.isLast === true) === isLast));
      ended = 0;
      await pooled(some, atOnce, run.signal, async (agent) => {
        const steps = agent.steps.filter((step) => (step.isLast === true) === isLast);
        const say = (text: string): void => {
          // A line for each agent would fill a log.
          if (run.out.isErrTty) progress.say(`${ended} of ${some.length} agents. ${safeLine(agent.name, 60)}: ${text}`);
        };
        say('changing');
        await doAgent({ ...work, acting: { ...acting, say } }, work, agent, steps);
        ended += 1;
      });
    }
    const known = new Set(plan.agents.flatMap(({ id }) => (id === null ? [] : [id])));
    const made = new Map([...ids].filter(([, id]) => !known.has(id)));
    return { done: work.done, failed: work.failed, made };
  });
}

async function doAgent(own: Work, all: Work, { name, id }: AgentPlan, steps: readonly Step[]): Promise<void> {
  // An agent that failed before is left where it is.
  if (all.failed.some(({ agent }) => agent === name)) return;
  const done = await doSteps(own, name, steps, id ?? '');
  all.done += done;
}

/** Returns how many steps were done. */
async function doSteps(work: Work, agent: string | null, steps: readonly Step[], id: string): Promise<number> {
  const { run, acting } = work;
  let done = 0;
  for (const step of steps) {
    run.signal.throwIfAborted();
    try {
      await step.do(acting, id === '' && agent !== null ? (acting.ids.get(agent) ?? '') : id);
      done += 1;
    } catch (error) {
      if (run.signal.aborted) throw error;
      work.failed.push({ agent, what: step.what, failure: failureOf(error, run.circumstances) });
      return done;
    }
  }
  return done;
}
