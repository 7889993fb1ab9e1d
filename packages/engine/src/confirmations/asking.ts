/**
 * An agent asks for a yes. Its call waits in its turn for a bounded time; a decision wakes it, and it is made by whoever moves
 * its row from `allowed` to `sending`: the waiting call itself, or later the queue of work.
 *
 * A process that dies leaves a row. In `pending` it waits for a decision and expires. In `allowed` its work comes due, and the
 * queue makes the call. In `sending` nobody makes the call again: it ends as `unknown` when its time is over.
 */
import { randomInt } from 'node:crypto';
import { Refusal, Shares, confirmationBounds, expiryMsOf, makeAgentId } from '@lodge/domain';
import type { ConfirmationKind, GuardedAct } from '@lodge/domain';
import {
  confirmationCallContext,
  confirmationResultContext,
  confirmationShownContext,
  confirmationWordsContext,
} from '@lodge/ports';
import type { CallEnd, CallGuard, GuardAnswer, GuardedCaller, Log, SecretBox, StoredCall } from '@lodge/ports';
import { lockAgent, selectAgent } from '@lodge/store/agents';
import {
  beginSending,
  countPending,
  endSending,
  endWait,
  findConfirmation,
  insertConfirmation,
  markTold,
  rememberedDecision,
  takePass,
} from '@lodge/store/confirmations';
import type { ConfirmationRow } from '@lodge/store/confirmations';
import type { Database } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import type { TurnPlace } from '../agents/agents.ts';
import type { TurnWaits } from '../turns/waits.ts';
import { waitingPlaces } from './bounds.ts';
import type { ConfirmationBounds } from './bounds.ts';
import { deliver } from './delivering.ts';
import { writeEnd } from './ending.ts';
import { digestOf, shownCall, shownQuestion } from './shown.ts';
import type { Question, Shown } from './shown.ts';
import { WaitingCalls } from './waiting.ts';

export interface AskingDeps {
  readonly database: Database;
  readonly changes: { on(topic: 'confirmation_changed', listener: (id: string | null) => void): unknown };
  readonly secrets: SecretBox;
  /** The conversation of the agent's turn; null when there is none, or several. */
  readonly placeOf: (agentId: string) => TurnPlace | null;
  /** Tells those who follow the agent's turns. */
  readonly waits: TurnWaits;
  readonly bounds: ConfirmationBounds;
  readonly log: Log;
}

/** An answer to a question; null while there is none. */
export interface OwnersAnswer {
  readonly answer: string | null;
  /** For the agent. */
  readonly message: string;
}

export interface Asking extends CallGuard {
  /** Asks the owner, and waits for at most `waitMs`. */
  question(caller: GuardedCaller, question: Question, waitMs: number, signal: AbortSignal): Promise<OwnersAnswer>;
}

/** Calls that wait in this process. */
interface Room extends AskingDeps {
  readonly waiting: WaitingCalls;
  readonly places: Shares;
}

interface Asked {
  readonly caller: GuardedCaller;
  readonly kind: ConfirmationKind;
  readonly subject: string;
  readonly target: string;
  readonly place: TurnPlace | null;
  readonly call: string;
  readonly shown: Shown;
  readonly waitMs: number;
}

const denied = (reason: string | null): GuardAnswer => ({
  verdict: 'denied',
  message: `The owner said no: it was not done. Do not try it in another way.${reason === null ? '' : ` Reason: ${reason}`}`,
});

const undecided: GuardAnswer = {
  verdict: 'undecided',
  message:
    'Not decided yet: it was not done. Do not repeat it. After a yes Lodge does it as it stands, and tells you in this conversation.',
};

const notRun: GuardAnswer = {
  verdict: 'undecided',
  message:
    'Not decided yet: it was not run. Do not repeat it now. After a yes you are told so in this conversation, and may do exactly the same once.',
};

export function createAsking(deps: AskingDeps): Asking {
  const waiting = new WaitingCalls((listener) => deps.changes.on('confirmation_changed', listener));
  const room: Room = { ...deps, waiting, places: new Shares(waitingPlaces) };
  return {
    ask: (...given) => askForCall(room, ...given),
    question: (...given) => askQuestion(room, ...given),
  };
}

async function askForCall(
  room: Room,
  caller: GuardedCaller,
  act: GuardedAct,
  call: StoredCall,
  signal: AbortSignal,
): Promise<GuardAnswer> {
  const place = room.placeOf(caller.agentId);
  const memory = await remembered(room, caller, act, place);
  if (memory === 'allow') return { verdict: 'allowed', ended: async () => undefined };
  if (memory === 'deny') return denied(null);
  const [subject, target] = [act.on[0], act.texts[0]];
  const text = callText(call);
  const isCommand = call.kind === 'command';
  if (isCommand && (await hasPass(room, caller, text, place))) {
    return { verdict: 'allowed', ended: async () => undefined };
  }
  const given = { caller, kind: 'call', subject, target, place, call: text, shown: shownCall(call) } as const;
  const row = await decidedRow(room, { ...given, waitMs: room.bounds.waitMs }, signal);
  if (signal.aborted) return undecided;
  if (row.status === 'allowed') return begun(room, row, signal);
  if (row.status !== 'denied') return isCommand ? notRun : undecided;
  await room.database.transaction((trx) => markTold(trx, row.id));
  return denied(wordsOf(room, row));
}

async function askQuestion(
  room: Room,
  caller: GuardedCaller,
  question: Question,
  waitMs: number,
  signal: AbortSignal,
): Promise<OwnersAnswer> {
  const given = { caller, kind: 'question', subject: 'tool:ask_owner', target: 'ask_owner' } as const;
  const place = room.placeOf(caller.agentId);
  const call = JSON.stringify({ kind: 'question', ...question });
  const shown = shownQuestion(question);
  const row = await decidedRow(room, { ...given, place, call, shown, waitMs }, signal);
  if (signal.aborted || (row.status !== 'done' && row.status !== 'denied')) {
    return { answer: null, message: 'Not answered yet. The answer comes into this conversation as a message.' };
  }
  await room.database.transaction((trx) => markTold(trx, row.id));
  if (row.status === 'done') return { answer: wordsOf(room, row), message: 'The owner answered.' };
  return { answer: null, message: 'The owner does not answer this question.' };
}

/** Writes the row, and returns it as it is when it was decided, or when nobody waits any more. */
async function decidedRow(room: Room, asked: Asked, signal: AbortSignal): Promise<ConfirmationRow> {
  const { database, bounds, waiting, places } = room;
  const { caller } = asked;
  const mayWait = asked.waitMs > 0 && places.take(caller, 1);
  const id = makeAgentId(randomInt);
  const waiter = waiting.begin(id);
  let told: ReturnType<TurnWaits['begin']> | null = null;
  let isDecided = false;
  try {
    let row = await write(room, id, mayWait ? asked : { ...asked, waitMs: 0 });
    const { subject: on, target, place, shown } = asked;
    const wait = { id, on, target, action: shown.action, quoted: shown.quoted };
    told = room.waits.begin(caller.agentId, place?.conversation ?? null, wait);
    const until = performance.now() + asked.waitMs;
    for (let left = mayWait ? asked.waitMs : 0; left > 0 && !signal.aborted; left = until - performance.now()) {
      await waiter.next(Math.min(left, bounds.lookEveryMs), signal);
      row = (await database.repeatable((db) => findConfirmation(db, id))) ?? row;
      if (row.status !== 'pending') break;
    }
    isDecided = row.status !== 'pending';
    // A guest that has left gets no answer: the queue goes on.
    if (row.status === 'pending' || signal.aborted) await database.transaction((trx) => endWait(trx, id));
    return row;
  } finally {
    waiter.end();
    told?.(isDecided);
    if (mayWait) places.giveBack(caller, 1);
  }
}

/** Takes the pass that a late yes has given to exactly this command. */
const hasPass = (
  { database }: Room,
  { agentId }: GuardedCaller,
  text: string,
  place: TurnPlace | null,
): Promise<boolean> =>
  database.transaction((trx) =>
    takePass(trx, { agentId, digest: digestOf(text), conversation: place?.conversation ?? null }),
  );

/** Begins an allowed call, unless the queue has begun it. */
async function begun(
  { database, secrets, bounds, log }: Room,
  { id }: ConfirmationRow,
  signal: AbortSignal,
): Promise<GuardAnswer> {
  const mine = await database.transaction((trx) => beginSending(trx, id, bounds.sendMs));
  if (mine === undefined) return undecided;
  return {
    verdict: 'allowed',
    async ended({ outcome, text }: CallEnd) {
      // A guest that has left does not know the answer.
      const told = !signal.aborted;
      const resultSealed = told ? null : secrets.seal(text, confirmationResultContext(id));
      try {
        await database.transaction(async (trx) => {
          const over = await endSending(trx, id, { outcome, resultSealed, told });
          if (over !== undefined) await writeEnd(trx, over);
        });
      } catch (error) {
        log.warn({ err: error, confirmation_id: id }, 'the end of an allowed call was not written');
      }
    },
  };
}

const wordsOf = ({ secrets }: Room, { id, wordsSealed }: ConfirmationRow): string | null =>
  wordsSealed && secrets.open(wordsSealed, confirmationWordsContext(id));

function callText(call: StoredCall): string {
  const text = JSON.stringify(call);
  if (Buffer.byteLength(text) <= confirmationBounds.callBytes) return text;
  throw new Refusal(
    'request_too_large',
    `A call that needs a yes may have at most ${confirmationBounds.callBytes / 1024} KiB.`,
  );
}

async function remembered(
  { database }: AskingDeps,
  { agentId }: GuardedCaller,
  { on, texts }: GuardedAct,
  place: TurnPlace | null,
) {
  if (place === null) return null;
  const asked = { agentId, conversation: place.conversation, subject: on[0], target: texts[0] };
  return database.repeatable((db) => rememberedDecision(db, asked));
}

/** Refuses with `quota_exceeded`, or where the agent is being deleted. */
function write(
  { database, secrets }: AskingDeps,
  id: string,
  { caller: { accountId, agentId }, kind, subject, target, place, call, shown, waitMs }: Asked,
): Promise<ConfirmationRow> {
  return database.transaction(async (trx) => {
    const agent = await lockAgent(trx, agentId);
    if (agent?.accountId !== accountId || agent.desired === 'deleted') {
      throw new Refusal('agent_not_found', 'The agent is being deleted.');
    }
    const most = confirmationBounds.openOfAgent;
    if ((await countPending(trx, agentId, most)) >= most) {
      throw new Refusal('quota_exceeded', `${most} confirmations of this agent wait already. Nothing was done.`);
    }
    const { confirmations } = (await selectAgent(trx, agentId))!;
    const row = await insertConfirmation(
      trx,
      {
        id,
        accountId,
        agentId,
        kind,
        subject,
        target,
        conversation: place?.conversation ?? null,
        member: place?.member ?? null,
        digest: digestOf(call),
        shownSealed: secrets.seal(JSON.stringify(shown), confirmationShownContext(id)),
        callSealed: secrets.seal(call, confirmationCallContext(id)),
      },
      { expiresInMs: expiryMsOf(confirmations), waitMs: waitMs > 0 ? waitMs : null },
    );
    await deliver(trx, row, shown, confirmations);
    const data = {
      confirmation_id: id,
      kind,
      on: subject,
      digest: row.digest,
      expires_at: row.expiresAt.toISOString(),
    };
    await appendEvent(trx, { type: 'confirmation.requested', data, accountId, agentId, by: null });
    return row;
  });
}
