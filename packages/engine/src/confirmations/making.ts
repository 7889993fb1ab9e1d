/**
 * Confirmations as work: an allowed call that no turn waits for is made once, and the agent is told the end in a turn of its
 * conversation. The row's status is read anew, because the piece may have waited for long.
 */
import { Refusal, confirmationBounds, confirmationPromptOf, conversationOfTurn } from '@lodge/domain';
import {
  confirmationCallContext,
  confirmationResultContext,
  confirmationShownContext,
  confirmationWordsContext,
} from '@lodge/ports';
import type { CallEnd, Log, MakeCall, SecretBox, StoredCall } from '@lodge/ports';
import { lockAgent } from '@lodge/store/agents';
import { findDestination, storable } from '@lodge/store/channels';
import type { ChannelDestination } from '@lodge/store/channels';
import {
  beginSending,
  endAbandoned,
  endConfirmationWork,
  endSending,
  endUnknown,
  failVainConfirmation,
  findConfirmation,
  givePass,
  postponeConfirmation,
} from '@lodge/store/confirmations';
import type { ConfirmationRow } from '@lodge/store/confirmations';
import type { Database, Transaction } from '@lodge/store/database';
import type { ClaimedConfirmation, WorkClaim } from '@lodge/store/work';
import { queueInConversation } from '../channels/conversations.ts';
import { workReasons } from '../work/failure.ts';
import type { Kind, Task, TurnEnd } from '../work/kind.ts';
import type { ConfirmationBounds } from './bounds.ts';
import { writeEnd } from './ending.ts';
import type { Shown } from './shown.ts';

export interface MakingDeps {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly bounds: ConfirmationBounds;
  readonly make: MakeCall;
  readonly log: Log;
}

const nothingToTell: TurnEnd = { outcome: 'skipped', reason: null, answer: null };

export const confirmationWork = (deps: MakingDeps): Kind<ClaimedConfirmation> => ({
  bounds: deps.bounds,
  what: 'confirmations',
  taskOf: (piece) => taskOf(piece, ''),
  prepare: (piece, cut) => prepare(deps, piece, cut),
  end: endWork,
  postpone: postponeConfirmation,
  endVain: (trx) => endVain(trx, deps.bounds.maxWaitMs),
});

function taskOf({ facts: { id, accountId, agentId, conversation, member } }: ClaimedConfirmation, text: string): Task {
  return {
    accountId,
    agentId,
    member,
    conversation: conversation ?? `confirmation:${id}`,
    origin: 'confirmation',
    text,
    wakes: ({ lifecycle }) => lifecycle.wakeOnMessage,
    asleep: workReasons.off,
    fields: { agent_id: agentId, confirmation_id: id },
  };
}

/** Makes the call, where it is allowed and nobody makes it, and returns the turn that tells the agent its end. */
async function prepare(deps: MakingDeps, piece: ClaimedConfirmation, cut: AbortSignal): Promise<Task | TurnEnd> {
  const { database } = deps;
  const { id } = piece.facts;
  let row = await database.repeatable((db) => findConfirmation(db, id));
  if (row?.status === 'allowed') row = await (isCommand(row) ? passed(deps, id) : made(deps, id, cut));
  if (row?.status === 'sending') row = await givenUp(database, id);
  if (row === undefined || row.told || row.status === 'pending') return nothingToTell;
  return taskOf(piece, promptOf(deps.secrets, row));
}

/** Whether the agent runs it itself. */
export const isCommand = ({ subject }: ConfirmationRow): boolean => subject === 'command';

/** Lets the agent run a command once. */
export const passed = ({ database, bounds }: MakingDeps, id: string): Promise<ConfirmationRow | undefined> =>
  database.transaction(async (trx) => {
    const over = await givePass(trx, id, bounds.passMs);
    if (over === undefined) return findConfirmation(trx, id);
    await writeEnd(trx, over);
    return over;
  });

async function made(
  { database, secrets, bounds, make }: MakingDeps,
  id: string,
  cut: AbortSignal,
): Promise<ConfirmationRow | undefined> {
  const row = await database.transaction((trx) => beginSending(trx, id, bounds.sendMs));
  if (row === undefined) return database.repeatable((db) => findConfirmation(db, id));
  const call = JSON.parse(secrets.open(row.callSealed!, confirmationCallContext(id))) as StoredCall;
  const { outcome, text }: CallEnd = await make(row, call, cut);
  const resultSealed = secrets.seal(toldText(text), confirmationResultContext(id));
  return database.transaction(async (trx) => {
    const over = await endSending(trx, id, { outcome, resultSealed, told: false });
    if (over !== undefined) await writeEnd(trx, over);
    return over;
  });
}

/** The beginning of an answer, which the agent is told. */
export const toldText = (text: string): string => text.slice(0, confirmationBounds.answerChars).toWellFormed();

/** Ends a call in whose midst a process died. Refuses while it may still be under way. */
async function givenUp(database: Database, id: string): Promise<ConfirmationRow | undefined> {
  const row = await database.transaction(async (trx) => {
    const over = await endUnknown(trx, id);
    if (over !== undefined) await writeEnd(trx, over);
    return over;
  });
  if (row !== undefined) return row;
  const now = await database.repeatable((db) => findConfirmation(db, id));
  if (now?.status !== 'sending') return now;
  throw new Refusal('agent_transitioning', 'The call is still under way.');
}

export function promptOf(secrets: SecretBox, row: ConfirmationRow, answered: string | null = null): string {
  const { id, kind, status, shownSealed, wordsSealed, resultSealed } = row;
  const { action, quoted } = JSON.parse(secrets.open(shownSealed, confirmationShownContext(id))) as Shown;
  const words = wordsSealed && secrets.open(wordsSealed, confirmationWordsContext(id));
  const isAnswer = kind === 'question' && status === 'done';
  return confirmationPromptOf({
    id,
    action: kind === 'question' ? `Your question: ${quoted}` : action,
    status,
    isCommand: isCommand(row),
    isQuestion: kind === 'question',
    reason: isAnswer ? null : words,
    answer: isAnswer ? words : null,
    result: answered ?? (resultSealed && secrets.open(resultSealed, confirmationResultContext(id))),
  });
}

/** The agent's words about the end go into the channel's conversation in which it had asked. */
async function endWork(trx: Transaction, claim: WorkClaim, { outcome, answer }: TurnEnd): Promise<boolean> {
  const said = answer === null ? '' : storable(answer.trim());
  const to = said === '' ? undefined : await destinationOf(trx, claim.id);
  // A press locks the agent, its channel and the confirmation in this order.
  if (to !== undefined) await lockAgent(trx, to.agentId);
  const isMine = await endConfirmationWork(trx, claim);
  if (isMine && outcome === 'failed') await abandon(trx, claim.id);
  // A conversation that cannot be written to any more is left out.
  if (isMine && to !== undefined) await queueInConversation(trx, to, { text: said, files: [] });
  return isMine;
}

/** The conversation of the channel's message in whose turn it was asked; undefined where it was asked in another turn. */
async function destinationOf(trx: Transaction, id: string): Promise<ChannelDestination | undefined> {
  const row = await findConfirmation(trx, id);
  const conversation = row?.conversation == null ? null : conversationOfTurn(row.conversation);
  if (row === undefined || conversation === null) return undefined;
  const { accountId, agentId } = row;
  const found = await findDestination(trx, agentId, conversation);
  return found && { ...found, accountId, agentId };
}

async function endVain(trx: Transaction, maxWaitMs: number): Promise<boolean> {
  const row = await failVainConfirmation(trx, maxWaitMs);
  if (row !== undefined) await abandon(trx, row.id);
  return row !== undefined;
}

/** Nothing is left that would end the call. */
async function abandon(trx: Transaction, id: string): Promise<void> {
  const over = await endAbandoned(trx, id);
  if (over !== undefined) await writeEnd(trx, over);
}
