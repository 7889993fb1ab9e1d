import { useQueryClient } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Agent } from '@lodge/sdk';
import { change, hasCode, lodge } from '../../api.ts';
import { formatNumber } from '../../format.ts';
import { putAgentRow } from './queries.ts';

export type BulkVerb = 'start' | 'stop' | 'delete';

export interface BulkFailure {
  readonly agent: Agent;
  readonly error: unknown;
}

export interface BulkProgress {
  readonly total: number;
  /** Agents that are over, whether done or failed. */
  readonly ended: number;
  /** Accepted, and still under way when the reply came. */
  readonly underWay: number;
  readonly failures: readonly BulkFailure[];
  readonly state: 'idle' | 'working' | 'ending' | 'over';
}

const idle: BulkProgress = { total: 0, ended: 0, underWay: 0, failures: [], state: 'idle' };
/** A browser has six connections to a server, and the events and the rest of the page need some. */
const atOnce = 3;
/** A refusal for too many requests is waited for; a change that is repeated has the same effect. */
const options = { maxRetries: 5, timeoutMs: 150_000 };

/** Whether the verb would change anything. */
export function isFor(verb: BulkVerb, { status, transition }: Agent): boolean {
  if (verb === 'delete') return true;
  if (transition !== null) return false;
  return verb === 'start' ? status === 'stopped' || status === 'error' : status === 'running' || status === 'paused';
}

async function act(client: QueryClient, verb: BulkVerb, { id }: Agent): Promise<'done' | 'under_way'> {
  if (verb === 'delete') {
    try {
      await change(() => lodge.agents.delete(id, options));
    } catch (error) {
      // Somebody else was faster.
      if (!hasCode(error, 'agent_not_found')) throw error;
    }
    putAgentRow(client, id, null);
    return 'done';
  }
  const agent = await change(() => lodge.agents[verb](id, {}, options));
  putAgentRow(client, id, agent);
  return agent.transition === null ? 'done' : 'under_way';
}

/** Does the same with many agents, a few at once. One that fails does not keep the others. */
export function useBulk() {
  const client = useQueryClient();
  const [progress, setProgress] = useState(idle);
  const isEnding = useRef(false);
  useEffect(
    () => () => {
      isEnding.current = true;
    },
    [],
  );
  const run = async (verb: BulkVerb, agents: readonly Agent[]): Promise<void> => {
    isEnding.current = false;
    setProgress({ ...idle, total: agents.length, state: 'working' });
    const waiting = [...agents];
    const work = async (): Promise<void> => {
      for (let agent = waiting.shift(); agent !== undefined && !isEnding.current; agent = waiting.shift()) {
        const [how, failures] = await outcome(client, verb, agent);
        setProgress((now) => ({
          ...now,
          ended: now.ended + 1,
          underWay: now.underWay + Number(how === 'under_way'),
          failures: [...now.failures, ...failures],
        }));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    setProgress((now) => ({ ...now, state: 'over' }));
  };
  const end = (): void => {
    isEnding.current = true;
    setProgress((now) => ({ ...now, state: 'ending' }));
  };
  return { progress, run, end };
}

async function outcome(
  client: QueryClient,
  verb: BulkVerb,
  agent: Agent,
): Promise<readonly ['done' | 'under_way' | 'failed', readonly BulkFailure[]]> {
  try {
    return [await act(client, verb, agent), []];
  } catch (error) {
    if (hasCode(error, 'agent_not_found')) putAgentRow(client, agent.id, null);
    return ['failed', [{ agent, error }]];
  }
}

export const countOf = (count: number): string => `${formatNumber(count)} ${count === 1 ? 'agent' : 'agents'}`;
