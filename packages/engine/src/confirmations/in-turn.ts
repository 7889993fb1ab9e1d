/**
 * Decisions that come with a message to the agent. Its turn tells the agent how the calls ended, and until it has, the queue of
 * work keeps each of them: a process that dies in the midst, or a turn that comes to nothing, leaves the rest to the queue.
 */
import { Refusal } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import { confirmationCallContext, confirmationResultContext } from '@lodge/ports';
import type { StoredCall } from '@lodge/ports';
import { beginSending, endSending, endWait, findConfirmation, holdWork, markTold } from '@lodge/store/confirmations';
import type { ConfirmationRow } from '@lodge/store/confirmations';
import { decide, noConfirmation } from './decide.ts';
import { writeEnd } from './ending.ts';
import { isCommand, passed, promptOf, toldText } from './making.ts';
import type { MakingDeps } from './making.ts';

export interface DecisionInTurn {
  readonly id: string;
  readonly isAllowed: boolean;
  /** The owner's words: a reason, or the answer to a question. */
  readonly words: string | null;
}

interface Decider {
  readonly accountId: string;
  readonly agentId: string;
  readonly note: ActorNote;
  readonly signal: AbortSignal;
}

export interface DecidedInTurn {
  /** A text for the agent for each. */
  readonly texts: readonly string[];
  /** To be called when the turn is over, with whether the agent has answered: else the queue tells it. Never rejects. */
  readonly ended: (isTold: boolean) => Promise<void>;
}

/**
 * Decides, and makes what is allowed. Refuses before it decides anything where one is not of this agent or is closed. Where it
 * fails after that, the queue does the rest.
 */
export type DecideInTurn = (decider: Decider, given: readonly DecisionInTurn[]) => Promise<DecidedInTurn>;

/** `isOurs`: the turn tells the agent, and nobody else does. */
interface Text {
  readonly id: string;
  readonly text: string;
  readonly isOurs: boolean;
}

/** By then whoever decided has begun the call, or has died. */
const beginMs = 60_000;

export function createDecidingInTurn(deps: MakingDeps): DecideInTurn {
  const { database, secrets, bounds } = deps;

  async function decided(decider: Decider, { id, isAllowed, words }: DecisionInTurn): Promise<ConfirmationRow> {
    const { accountId, note } = decider;
    return database.transaction(async (trx) => {
      const isQuestion = (await findConfirmation(trx, id))?.kind === 'question';
      const input = {
        decision: isAllowed ? 'allow' : 'deny',
        reason: isQuestion && isAllowed ? null : words,
        answer: isQuestion && isAllowed ? words : null,
        remember: 'none',
      } as const;
      const row = await decide({ secrets, graceMs: bounds.graceMs }, trx, { accountId, id }, input, note);
      if (!isAwaited(row)) await holdWork(trx, id, beginMs);
      return row;
    });
  }

  async function textOf(decider: Decider, row: ConfirmationRow): Promise<Text> {
    const { id } = row;
    // A turn that waits for it goes on by itself.
    if (isAwaited(row)) return { id, text: promptOf(secrets, row), isOurs: false };
    if (row.status === 'allowed' && !isCommand(row)) return made(decider, row);
    const now = row.status === 'allowed' ? ((await passed(deps, id)) ?? row) : row;
    await database.transaction((trx) => holdWork(trx, id, bounds.tellMs));
    return { id, text: promptOf(secrets, now), isOurs: true };
  }

  async function made({ signal }: Decider, { id }: ConfirmationRow): Promise<Text> {
    const row = await database.transaction((trx) => beginSending(trx, id, bounds.sendMs));
    if (row === undefined) {
      const now = (await database.repeatable((db) => findConfirmation(db, id)))!;
      return { id, text: promptOf(secrets, now), isOurs: false };
    }
    const call = JSON.parse(secrets.open(row.callSealed!, confirmationCallContext(id))) as StoredCall;
    const { outcome, text } = await deps.make(row, call, signal);
    const resultSealed = secrets.seal(toldText(text), confirmationResultContext(id));
    const over = await database.transaction(async (trx) => {
      const end = { outcome, resultSealed, told: false, turnMs: bounds.tellMs };
      const ended = await endSending(trx, id, end);
      if (ended !== undefined) await writeEnd(trx, ended);
      return ended;
    });
    return { id, text: promptOf(secrets, over ?? row, text), isOurs: over !== undefined };
  }

  return async (decider, given) => {
    for (const { id } of given) await checkOpen(deps, decider, id);
    const all: Text[] = [];
    const ended = (isTold: boolean): Promise<void> => endTelling(deps, all, isTold);
    try {
      for (const one of given) all.push(await textOf(decider, await decided(decider, one)));
    } catch (error) {
      await ended(false);
      throw error;
    }
    return { texts: all.map(({ text }) => text), ended };
  };
}

async function checkOpen({ database }: MakingDeps, { accountId, agentId }: Decider, id: string): Promise<void> {
  const row = await database.repeatable((db) => findConfirmation(db, id));
  if (row?.accountId !== accountId || row.agentId !== agentId) throw noConfirmation();
  if (row.status === 'pending') return;
  throw new Refusal('confirmation_closed', `This confirmation is ${row.status}: nothing was changed.`);
}

async function endTelling({ database, log }: MakingDeps, all: readonly Text[], isTold: boolean): Promise<void> {
  for (const { id } of all.filter(({ isOurs }) => isOurs)) {
    await database
      .transaction((trx) => (isTold ? markTold(trx, id) : endWait(trx, id)))
      .catch((error: unknown) => log.warn({ err: error, confirmation_id: id }, 'the queue tells its end again'));
  }
}

const isAwaited = ({ waitsUntil }: ConfirmationRow): boolean =>
  waitsUntil !== null && waitsUntil.getTime() > Date.now();
