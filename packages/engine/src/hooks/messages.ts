/** Messages of hooks as work: the turn that one makes, and its end. */
import { hookPromptOf, oneLine, redact } from '@lodge/domain';
import { storable } from '@lodge/store/channels';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { endMessage, failMessage, failVainMessage, postponeMessage } from '@lodge/store/hooks';
import type { EndedMessage } from '@lodge/store/hooks';
import { appendLog } from '@lodge/store/logs';
import { storableReason } from '@lodge/store/work';
import type { ClaimedMessage, WorkClaim } from '@lodge/store/work';
import { deliverEnd, deliveryFacts } from '../work/delivery.ts';
import { workReasons } from '../work/failure.ts';
import type { Kind, Task, TurnEnd } from '../work/kind.ts';
import type { HookBounds } from './bounds.ts';

export const hookMessages = (bounds: HookBounds): Kind<ClaimedMessage> => ({
  bounds,
  what: 'messages of hooks',
  taskOf,
  end,
  postpone: postponeMessage,
  endVain: (trx) => failVain(trx, bounds.maxWaitMs),
});

function taskOf({ attempts, mayHaveActed, facts: { hook, receivedAt, ...received } }: ClaimedMessage): Task {
  const { id, accountId, agentId, name, isSigned } = hook;
  const facts = { ...received, receivedAt: new Date(receivedAt), mayHaveActed, attempt: attempts + 1 };
  return {
    accountId,
    agentId,
    conversation: hook.conversation ?? `hook:${id}`,
    origin: 'hook',
    text: hookPromptOf({ ...facts, hook: name, isSigned }),
    wakes: ({ lifecycle }) => lifecycle.wakeOnMessage,
    asleep: workReasons.off,
    fields: { agent_id: agentId, hook_id: id },
  };
}

/** Delivers the answer, and writes log and event. The sender's text is deleted. */
async function end(trx: Transaction, claim: WorkClaim, { outcome, ...given }: TurnEnd): Promise<boolean> {
  const answer = given.answer && storable(given.answer);
  const reason = given.reason && storableReason(given.reason);
  const message = await endMessage(trx, claim, { status: outcome, reason });
  if (message === undefined) return false;
  const known = await deliverEnd(trx, message, { outcome, reason, answer }, failMessage);
  if (answer !== null && answer !== '') {
    const line = `Hook "${message.name}" was answered: ${redact(oneLine(answer))}`;
    await appendLog(trx, message.agentId, [{ level: 'info', source: 'system', message: line }]);
  }
  await writeEvent(trx, message, known);
  return true;
}

async function failVain(trx: Transaction, maxWaitMs: number): Promise<boolean> {
  const reason = `The agent did not come to it within ${Math.round(maxWaitMs / 3_600_000)} hours.`;
  const message = await failVainMessage(trx, maxWaitMs, reason);
  if (message === undefined) return false;
  await writeEvent(trx, message, { outcome: 'failed', reason, answer: null });
  return true;
}

function writeEvent(
  trx: Transaction,
  { id: message_id, hookId: hook_id, name, attempts, durationMs, deliverTo, ...message }: EndedMessage,
  { outcome, reason, answer }: TurnEnd,
): Promise<unknown> {
  const of = { accountId: message.accountId, agentId: message.agentId, by: null };
  const which = { hook_id, name, message_id };
  switch (outcome) {
    case 'answered': {
      const facts = { duration_ms: Math.round(durationMs), attempts, ...deliveryFacts(deliverTo, answer) };
      return appendEvent(trx, { type: 'hook.answered', data: { ...which, ...facts }, ...of });
    }
    case 'failed':
      return appendEvent(trx, { type: 'hook.failed', data: { ...which, reason: reason ?? '', attempts }, ...of });
    case 'skipped':
      return appendEvent(trx, { type: 'hook.skipped', data: { ...which, reason: reason ?? '' }, ...of });
  }
}
