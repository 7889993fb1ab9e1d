/** What becomes of a delivery after an attempt, and of its receiver. */
import { retryWaitMs, webhookTestType } from '@lodge/domain';
import type { RetryRules } from '@lodge/domain';
import type { WebhookAnswer } from '@lodge/ports';
import type { DeliveryAttempt, DueDelivery, HeldWebhook } from '@lodge/store/webhooks';

type Outcome = Pick<DeliveryAttempt, 'state' | 'afterMs' | 'status' | 'reason'>;

/** A delivery is given up when its waits have come to `giveUpMs`. A test is attempted once. */
export function outcomeOf(retries: RetryRules, { type, attempts }: DueDelivery, answer: WebhookAnswer): Outcome {
  const { status } = answer;
  if (answer.outcome === 'taken') return { state: 'delivered', afterMs: null, status, reason: null };
  const { reason } = answer;
  const failed = { state: 'failed', afterMs: null, status, reason } as const;
  if (answer.outcome === 'gone' || type === webhookTestType || waitedMs(retries, attempts) >= retries.giveUpMs) {
    return failed;
  }
  const afterMs = retryWaitMs(retries, attempts + 1, answer.retryAfterMs, Math.random());
  return { ...failed, state: 'pending', afterMs };
}

/** The sum of the waits before an attempt that `attempts` others precede. */
function waitedMs({ waitsMs }: RetryRules, attempts: number): number {
  const listed = waitsMs.slice(0, attempts).reduce((sum, ms) => sum + ms, 0);
  return listed + Math.max(0, attempts - waitsMs.length) * (waitsMs.at(-1) ?? 0);
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
