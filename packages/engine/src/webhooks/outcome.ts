/** The end of an attempt: the state of its delivery then, and of its receiver. */
import { isLastAttempt, retryWaitMs, webhookTestType } from '@lodge/domain';
import type { RetryRules } from '@lodge/domain';
import type { WebhookAnswer } from '@lodge/ports';
import type { DeliveryAttempt, DueDelivery, HeldWebhook } from '@lodge/store/webhooks';

type Outcome = Pick<DeliveryAttempt, 'state' | 'afterMs' | 'status' | 'reason'>;

/** A test is attempted once. */
export function outcomeOf(retries: RetryRules, { type, attempts }: DueDelivery, answer: WebhookAnswer): Outcome {
  const { status } = answer;
  if (answer.outcome === 'taken') return { state: 'delivered', afterMs: null, status, reason: null };
  const { reason } = answer;
  const failed = { state: 'failed', afterMs: null, status, reason } as const;
  if (answer.outcome === 'gone' || type === webhookTestType || isLastAttempt(retries, attempts + 1)) {
    return failed;
  }
  const afterMs = retryWaitMs(retries, attempts + 1, answer.retryAfterMs, Math.random());
  return { ...failed, state: 'pending', afterMs };
}

/** Whether the receiver took nothing of these. */
export const isFailing = (attempts: readonly DeliveryAttempt[]): boolean =>
  attempts.every(({ state }) => state !== 'delivered');

/** Why a webhook is disabled: its receiver wants no more, or has failed for `giveUpMs`; null while it is not. */
export function whyDisabled(
  { giveUpMs }: RetryRules,
  { failingSince }: HeldWebhook,
  gone: string | null,
): string | null {
  const isOver = failingSince !== null && Date.now() - failingSince.getTime() >= giveUpMs;
  return gone ?? (isOver ? 'The receiver has failed for a day.' : null);
}
