/** Answers channel messages: makes a turn of each conversation in which messages wait (`ClaimedWork`). */
import type { WaitingConversation, Log } from '@lodge/ports';
import { attempt } from '../../work/attempt.ts';
import { TurnCut } from '../../work/cut.ts';
import { ClaimedWork } from '../../work/claimed-work.ts';
import type { Cuttable } from '../../work/claimed-work.ts';
import { conversing } from './converse.ts';
import type { ConverseDeps } from './converse.ts';
import type { Agents } from '../../agents/agents.ts';
import type { ChannelTurns } from './turns.ts';
import { commandAnswer, reasons } from './words.ts';

export interface AnsweringDeps extends ConverseDeps {
  readonly turns: ChannelTurns;
  /** Names this process among those that may answer. */
  readonly holder: string;
}

export function createAnswering(deps: AnsweringDeps): ClaimedWork<WaitingConversation, 'conversation'> {
  const { turns, bounds, holder, log } = deps;
  const { turnsPerAgent: perAgent, leaseMs } = bounds;
  const parts = conversing(deps);
  return new ClaimedWork({
    bounds,
    async before(underWay) {
      await cutStopped(turns, underWay);
      await answerAsides(deps);
    },
    places: { conversation: bounds.atOnce },
    kindOf: () => 'conversation',
    claim: ({ conversation: limit = 0 }) => turns.claim({ holder, limit, perAgent, leaseMs }),
    renew: (claims) => turns.renew(claims, leaseMs),
    perform: (claimed, cut) => attempt(parts, claimed, cut),
    onWork: (listener) => turns.onWork(listener),
    losesClaimsOnWork: false,
    what: parts.what,
    fields: parts.fields,
    log,
  });
}

async function cutStopped(turns: ChannelTurns, underWay: readonly Cuttable<WaitingConversation>[]): Promise<void> {
  if (underWay.length === 0) return;
  const stopped = await turns.stopsWanted(underWay.map(({ piece }) => piece));
  for (const { piece, cut } of underWay) if (stopped.has(piece.id)) cut.abort(new TurnCut('stop'));
}

interface AsidesDeps {
  readonly agents: Pick<Agents, 'get'>;
  readonly turns: Pick<ChannelTurns, 'asides' | 'answerAside'>;
  readonly log: Log;
}

/** Commands of one look. An answered command causes a further look. */
const maxAtOnce = 20;

/** Answers the commands. A failed one is tried again with the next look and delays no other. */
async function answerAsides({ agents, turns, log }: AsidesDeps): Promise<void> {
  for (const { id, accountId, agentId, command } of await turns.asides(maxAtOnce)) {
    try {
      const text = commandAnswer(command, await agents.get(accountId, agentId));
      await turns.answerAside(id, { text, ...(command === 'stop' && { endsEarlier: reasons.stopped }) });
    } catch (error) {
      log.warn({ err: error, agent_id: agentId }, 'a command was not answered');
    }
  }
}
