/** Commands that no turn delays. */
import type { ChannelTurns, Log } from '@lodge/ports';
import type { Agents } from '../../agents/agents.ts';
import { commandAnswer, reasons } from './words.ts';

export interface AsidesDeps {
  readonly agents: Pick<Agents, 'get'>;
  readonly turns: Pick<ChannelTurns, 'asides' | 'answerAside'>;
  readonly log: Log;
}

/** Commands of one look. An answered command causes a further look. */
const maxAtOnce = 20;

/** Answers the commands. A failed one is tried again with the next look and delays no other. */
export async function answerAsides({ agents, turns, log }: AsidesDeps): Promise<void> {
  for (const { id, accountId, agentId, command } of await turns.asides(maxAtOnce)) {
    try {
      const text = commandAnswer(command, await agents.get(accountId, agentId));
      await turns.answerAside(id, { text, ...(command === 'stop' && { endsEarlier: reasons.stopped }) });
    } catch (error) {
      log.warn({ err: error, agent_id: agentId }, 'a command was not answered');
    }
  }
}
