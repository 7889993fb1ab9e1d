export interface WebhookRequest {
  readonly url: string;
  /** The same at every attempt: receivers know a repetition by it. */
  readonly messageId: string;
  /** Of this attempt. */
  readonly at: Date;
  readonly body: string;
  /** `whsec_…`: the present one first, and one whose time is not over. */
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
}

export type WebhookAnswer =
  | { readonly outcome: 'taken'; readonly status: number }
  /** The receiver wants no more of them: 410. */
  | { readonly outcome: 'gone'; readonly status: number; readonly reason: string }
  | {
      readonly outcome: 'failed';
      readonly status: number | null;
      /** A sentence for the owner; nothing of the answer's text is in it. */
      readonly reason: string;
      readonly retryAfterMs: number | null;
    };

export interface WebhookSender {
  /** Never rejects. Bounded in time; follows no redirect; public addresses alone, unless the operator allows others. */
  send(request: WebhookRequest): Promise<WebhookAnswer>;
  close(): Promise<void>;
}
