/** Somebody decides about a confirmation: by the API, or by a press in a conversation. A second decision changes nothing. */
import { Refusal, confirmationLimits, ruleFor } from '@lodge/domain';
import type { ChannelName, ConfirmationDecision, ConfirmationMemory } from '@lodge/domain';
import { confirmationWordsContext } from '@lodge/ports';
import type { ActorNote, SecretBox } from '@lodge/ports';
import { lockAgent, selectAgent, writeAgent } from '@lodge/store/agents';
import { findConfirmation, lockConfirmation, putConfirmationWork, writeDecision } from '@lodge/store/confirmations';
import type { ConfirmationRow } from '@lodge/store/confirmations';
import type { Transaction } from '@lodge/store/database';
import { appendEvent, writeNote } from '@lodge/store/events';
import { closeMessages } from './delivering.ts';
import { factsOf } from './ending.ts';

export interface DecisionInput {
  readonly decision: ConfirmationDecision;
  readonly reason: string | null;
  /** The answer to a question; null for a call. */
  readonly answer: string | null;
  readonly remember: ConfirmationMemory;
}

/** `sender`: the person who decided in a conversation; the name is their own text. */
export interface Decider {
  readonly accountId: string;
  readonly id: string;
  readonly sender?: { readonly channel: ChannelName; readonly id: string; readonly name: string };
}

export interface DecideDeps {
  readonly secrets: SecretBox;
  /** How much later the queue does what a waiting call should have done. */
  readonly graceMs: number;
}

export const noConfirmation = (): Refusal =>
  new Refusal('confirmation_not_found', 'This account has no such confirmation.');

/** Refuses with `confirmation_not_found`, `confirmation_closed` or `invalid_request`. */
export async function decide(
  { secrets, graceMs }: DecideDeps,
  trx: Transaction,
  { accountId, id, sender }: Decider,
  input: DecisionInput,
  note?: ActorNote,
): Promise<ConfirmationRow> {
  const found = await findConfirmation(trx, id);
  // The agent is locked first, as its removal does.
  const agent = found?.accountId === accountId ? await lockAgent(trx, found.agentId) : undefined;
  const row = agent?.desired === 'running' ? await lockConfirmation(trx, id) : undefined;
  if (row === undefined) throw noConfirmation();
  if (row.status !== 'pending' || row.isOver) {
    const why = row.status === 'pending' ? 'has expired' : `is ${row.status}`;
    throw new Refusal('confirmation_closed', `This confirmation ${why}: nothing was changed.`);
  }
  check(row, input);
  const { decision, remember, reason, answer } = input;
  const words = row.kind === 'question' && decision === 'allow' ? answer : reason;
  const isDone = row.kind === 'question' ? 'done' : 'allowed';
  const decided = await writeDecision(trx, id, {
    decision,
    remember,
    status: decision === 'deny' ? 'denied' : isDone,
    wordsSealed: words === null ? null : secrets.seal(words, confirmationWordsContext(id)),
  });
  await putConfirmationWork(trx, id, graceMs);
  if (remember === 'rule') await addRule(trx, decided, note);
  await closeMessages(trx, decided, sender?.name);
  const by = sender && { channel: sender.channel, sender_id: sender.id };
  const data = { ...factsOf(row), decision, remember, ...by };
  await writeNote(trx, { accountId, agentId: row.agentId }, { type: 'confirmation.decided', data }, note);
  return decided;
}

function check({ kind, conversation }: ConfirmationRow, { decision, answer, remember }: DecisionInput): void {
  if (kind === 'question') {
    if (decision === 'allow' && answer === null) throw wrong('answer is required to answer a question.');
    if (remember !== 'none') throw wrong('remember is for calls: an answer is for its question alone.');
  } else if (answer !== null) {
    throw wrong('answer is for questions: this is a call.');
  } else if (remember === 'conversation' && conversation === null) {
    throw wrong('remember: this call was made in no conversation, or while the agent was in several.');
  }
}

/** Adds a rule for acts like this one before all others. */
async function addRule(trx: Transaction, row: ConfirmationRow, note: ActorNote | undefined): Promise<void> {
  const { agentId, subject, target, decision } = row;
  const act = { on: [subject], texts: [target], hasDefault: true } as const;
  const rule = ruleFor(act, decision!);
  if (rule === null) throw wrong('remember: a rule cannot name this call, as its text has a star.');
  const { confirmations } = (await selectAgent(trx, agentId))!;
  if (confirmations === null) throw wrong('remember: the agent has no rules any more.');
  const rules = [rule, ...confirmations.rules.filter(({ on, match }) => on !== rule.on || match !== rule.match)];
  if (rules.length > confirmationLimits.rules) {
    throw wrong(`remember: an agent has at most ${confirmationLimits.rules} rules.`);
  }
  await writeAgent(trx, agentId, { confirmations: { ...confirmations, rules } });
  const event = { type: 'agent.updated', data: { fields: ['confirmations'] } } as const;
  await appendEvent(trx, { ...event, accountId: row.accountId, agentId, by: note?.by ?? null });
}

const wrong = (message: string): Refusal => new Refusal('invalid_request', message);
