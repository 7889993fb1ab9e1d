/**
 * Decisions that come with a message to the agent. Its turn tells the agent how the calls ended, so nobody else does. A process
 * that dies in the midst leaves the rest to the queue of work.
 */
import { Refusal } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import { confirmationCallContext } from '@lodge/ports';
import type { StoredCall } from '@lodge/ports';
import { beginSending, endSending, findConfirmation, holdWork, markTold } from '@lodge/store/confirmations';
import type { ConfirmationRow } from '@lodge/store/confirmations';
import { decide, noConfirmation } from './decide.ts';
import { writeEnd } from './ending.ts';
import { isCommand, passed, promptOf } from './making.ts';
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

/**
 * Decides, makes what is allowed, and returns a text for the agent for each. Refuses before it decides anything where one is not
 * of this agent or is closed.
 */
export type DecideInTurn = (decider: Decider, given: readonly DecisionInTurn[]) => Promise<readonly string[]>;

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

  async function textOf(decider: Decider, row: ConfirmationRow): Promise<string> {
    // A turn that waits for it goes on by itself.
    if (isAwaited(row)) return promptOf(secrets, row);
    if (row.status !== 'allowed') {
      await database.transaction((trx) => markTold(trx, row.id));
      return promptOf(secrets, row);
    }
    if (isCommand(row)) {
      const over = await passed(deps, row.id);
      await database.transaction((trx) => markTold(trx, row.id));
      return promptOf(secrets, over ?? row);
    }
    return made(decider, row);
  }

  async function made({ signal }: Decider, { id }: ConfirmationRow): Promise<string> {
    const row = await database.transaction((trx) => beginSending(trx, id, bounds.sendMs));
    if (row === undefined) return promptOf(secrets, (await database.repeatable((db) => findConfirmation(db, id)))!);
    const call = JSON.parse(secrets.open(row.callSealed!, confirmationCallContext(id))) as StoredCall;
    const { outcome, text } = await deps.make(row, call, signal);
    const over = await database.transaction(async (trx) => {
      const ended = await endSending(trx, id, { outcome, resultSealed: null, told: true });
      if (ended !== undefined) await writeEnd(trx, ended);
      return ended;
    });
    return promptOf(secrets, over ?? row, text);
  }

  return async (decider, given) => {
    for (const { id } of given) {
      const row = await database.repeatable((db) => findConfirmation(db, id));
      if (row?.accountId !== decider.accountId || row.agentId !== decider.agentId) throw noConfirmation();
      if (row.status !== 'pending') {
        throw new Refusal('confirmation_closed', `This confirmation is ${row.status}: nothing was changed.`);
      }
    }
    const texts: string[] = [];
    for (const one of given) texts.push(await textOf(decider, await decided(decider, one)));
    return texts;
  };
}

const isAwaited = ({ waitsUntil }: ConfirmationRow): boolean =>
  waitsUntil !== null && waitsUntil.getTime() > Date.now();
