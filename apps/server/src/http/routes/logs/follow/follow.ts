import type { Agents } from '@lodge/engine';
import type { LogEntry, LogQuery } from '@lodge/ports';
import { follow } from '../../../reply/follow/follow.ts';
import type { Following } from '../../../reply/follow/follow.ts';

export type LogFilter = Omit<LogQuery, 'from' | 'direction' | 'limit'>;

export interface FollowRequest extends Following {
  readonly agents: Pick<Agents, 'logs' | 'onLog'>;
  readonly accountId: string;
  readonly filter: LogFilter;
}

/** An agent's log as it grows. Rejects before it gives anything when the agent cannot be read. */
export async function followLog(request: FollowRequest): Promise<AsyncGenerator<readonly LogEntry[]>> {
  const { agents, accountId, filter, ...following } = request;
  const { agentId } = filter;
  const newestId = async (): Promise<bigint> => {
    const [newest] = await agents.logs(accountId, { agentId, direction: 'desc', limit: 1 });
    return newest?.id ?? -1n;
  };
  const isNarrow = Object.keys(filter).length > 1;
  // The one look that finds out whether the account has this agent.
  if (!isNarrow) await newestId();
  return follow(
    {
      page: (query) => agents.logs(accountId, { ...filter, ...query }),
      ...(isNarrow && { newestId }),
      onGrown: (listener) => agents.onLog(agentId, listener),
    },
    following,
  );
}
