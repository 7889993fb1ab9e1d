/** Commands that no turn holds up. */
import type { ChannelTurns, Log } from '@lodge/ports';
import type { Agents } from '../../agents/agents.ts';
import { commandAnswer, reasons } from './words.ts';

export interface AsidesDeps {
  readonly agents: Pick<Agents, 'get'>;
  readonly turns: Pick<ChannelTurns, 'asides' | 'answerAside'>;
  readonly log: Log;
}

/** In one look. What is answered makes a further look. */
const maxAtOnce = 20;

/** One that fails is tried again with the next look, and holds up no other. */
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
