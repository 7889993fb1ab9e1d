/** Topics and subscriptions of one project, by Pub/Sub's REST API (v1): pull and acknowledge. It refuses what Pub/Sub refuses. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { googleError, json } from './http.ts';
import type { Answer, Call } from './http.ts';

export const pubsubScope = 'https://www.googleapis.com/auth/pubsub';

/** As whom Gmail publishes. */
export const gmailPublisher = 'gmail-api-push@system.gserviceaccount.com';

interface Queued {
  readonly messageId: string;
  readonly publishTime: string;
  /** As it is in JSON: base64, unless a test says otherwise. */
  readonly data: unknown;
  ackId: string | null;
  /** Delivered and not acknowledged until then. */
  heldUntil: number;
  attempts: number;
}

interface Subscription {
  readonly topic: string;
  /** The accounts that may pull. */
  readonly subscribers: Set<string>;
  readonly queue: Queued[];
}

export class StubPubsub {
  readonly project = 'stub-project';
  /** The allowed publishers, by full name. */
  readonly topics = new Map<string, Set<string>>();
  readonly subscriptions = new Map<string, Subscription>();
  /** How long a pull is held open where there is nothing. */
  holdMs = 2_000;
  ackDeadlineMs = 10_000;
  /** The delay until a published message reaches its subscriptions. */
  delayMs = 0;
  /** Pulls give nothing, as if nothing had been published. */
  isDeaf = false;
  /** Each message is delivered twice. */
  duplicates = false;
  /** Messages that were acknowledged. */
  acknowledged = 0;
  readonly #waiting = new Set<() => void>();

  /** With the grant to Gmail unless told otherwise. Gives the full name. */
  createTopic(id: string, publishers: readonly string[] = [gmailPublisher]): string {
    const name = `projects/${this.project}/topics/${id}`;
    this.topics.set(name, new Set(publishers));
    return name;
  }

  createSubscription(id: string, topic: string, subscribers: readonly string[]): string {
    const name = `projects/${this.project}/subscriptions/${id}`;
    this.subscriptions.set(name, { topic, subscribers: new Set(subscribers), queue: [] });
    return name;
  }

  /** Why Gmail cannot publish to the topic; null: it can. */
  refusal(topic: string): Answer | null {
    const failed = (code: number, reason: string, why: string): Answer =>
      googleError(code, reason, `Error sending test message to Cloud PubSub ${topic} : ${why}`);
    if (!topic.startsWith(`projects/${this.project}/topics/`))
      return googleError(400, 'invalidArgument', `Invalid topicName does not match projects/${this.project}/topics/*`);
    const publishers = this.topics.get(topic);
    if (!publishers) return failed(404, 'notFound', 'Resource not found (resource=topic).');
    return publishers.has(gmailPublisher)
      ? null
      : failed(403, 'forbidden', 'User not authorized to perform this action.');
  }

  /** A notice of Gmail; with `data` anything else, as it is to stand in the answer of a pull. */
  publish(
    topic: string,
    notice: { readonly emailAddress: string; readonly historyId: number } | { readonly data: unknown },
  ): void {
    const data = 'data' in notice ? notice.data : Buffer.from(JSON.stringify(notice)).toString('base64');
    const put = (): void => {
      for (const { topic: of, queue } of this.subscriptions.values()) {
        if (of !== topic) continue;
        for (let copies = this.duplicates ? 2 : 1; copies > 0; copies -= 1) {
          const publishTime = new Date().toISOString();
          queue.push({ messageId: newId(), publishTime, data, ackId: null, heldUntil: 0, attempts: 0 });
        }
      }
      for (const wake of this.#waiting) wake();
    };
    if (this.delayMs > 0) setTimeout(put, this.delayMs).unref();
    else put();
  }

  /** Delivered or not, and not acknowledged. */
  backlogOf(subscription: string): number {
    return this.subscriptions.get(subscription)?.queue.length ?? 0;
  }

  /** `who` asks; null: nobody whom Google knows. */
  async answer(who: string | null, name: string, method: string, call: Call): Promise<Answer> {
    if (who === null) return googleError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
    const subscription = this.subscriptions.get(name);
    if (!subscription) return googleError(404, 'NOT_FOUND', `Resource not found (resource=${name.split('/').at(-1)}).`);
    if (!subscription.subscribers.has(who))
      return googleError(403, 'PERMISSION_DENIED', 'User not authorized to perform this action.');
    const asked = JSON.parse(call.body.toString()) as { maxMessages?: number; ackIds?: string[] };
    if (method === 'acknowledge') return this.#acknowledge(subscription, asked.ackIds ?? []);
    const most = asked.maxMessages ?? 0;
    if (!Number.isInteger(most) || most < 1)
      return googleError(
        400,
        'INVALID_ARGUMENT',
        'The value for max_messages is too small. You passed 0 in the request.',
      );
    return this.#pull(subscription, most, call.gone);
  }

  async #pull({ queue }: Subscription, most: number, gone: AbortSignal): Promise<Answer> {
    for (const until = Date.now() + this.holdMs; !gone.aborted && Date.now() < until;) {
      const now = Date.now();
      const ready = this.isDeaf ? [] : queue.filter(({ heldUntil }) => heldUntil <= now).slice(0, most);
      if (ready.length > 0) return json(200, { receivedMessages: ready.map((each) => this.#deliver(each)) });
      const woken = Promise.withResolvers<void>();
      this.#waiting.add(woken.resolve);
      await Promise.race([woken.promise, sleep(Math.min(50, until - now), undefined, { ref: false })]);
      this.#waiting.delete(woken.resolve);
    }
    return json(200, {});
  }

  #deliver(message: Queued): object {
    message.ackId = newId();
    message.heldUntil = Date.now() + this.ackDeadlineMs;
    message.attempts += 1;
    const { ackId, data, messageId, publishTime } = message;
    return { ackId, message: { data, messageId, publishTime } };
  }

  #acknowledge({ queue }: Subscription, ackIds: readonly string[]): Answer {
    if (ackIds.length === 0) return googleError(400, 'INVALID_ARGUMENT', 'No ack ids specified.');
    const left = queue.filter(({ ackId }) => ackId === null || !ackIds.includes(ackId));
    this.acknowledged += queue.length - left.length;
    queue.splice(0, queue.length, ...left);
    return json(200, {});
  }
}

const newId = (): string => randomBytes(16).toString('hex');
