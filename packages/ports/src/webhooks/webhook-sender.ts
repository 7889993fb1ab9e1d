export interface WebhookRequest {
  readonly url: string;
  /** Id of the message, the same at every attempt. Receivers recognise a repetition by it. */
  readonly messageId: string;
  /** The time of this attempt. */
  readonly at: Date;
  readonly body: string;
  /** Secrets as `whsec_…`: the present one first, then the previous one while it is valid. */
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
}

export type WebhookAnswer =
  | { readonly outcome: 'taken'; readonly status: number }
  /** The receiver wants no more of them: it answered 410. */
  | { readonly outcome: 'gone'; readonly status: number; readonly reason: string }
  | {
      readonly outcome: 'failed';
      readonly status: number | null;
      /** A sentence for the owner, without any text of the answer. */
      readonly reason: string;
      readonly retryAfterMs: number | null;
    };

export interface WebhookSender {
  /**
   * Sends a request. Never rejects. Bounded in time. It follows no redirect, and calls only public addresses unless the
   * operator allows others.
   */
  send(request: WebhookRequest): Promise<WebhookAnswer>;
  close(): Promise<void>;
}
