/**
 * Sends an event to a server by Standard Webhooks: one POST of a JSON text, signed over its id, its time and its bytes
 * (https://github.com/standard-webhooks/standard-webhooks). The owner chose the address, and every answer is hostile: no
 * byte of its body is kept.
 */
import { randomBytes } from 'node:crypto';
import { PrivateAddressError, createOutbound, ofNameServers } from '@lodge/egress';
import type { Outbound, OutboundResponse } from '@lodge/egress';
import type { WebhookAnswer, WebhookRequest, WebhookSender } from '@lodge/ports';
import { Webhook } from 'standardwebhooks';

export interface WebhookSenderOptions {
  /** Whether receivers may be at addresses that are not public. */
  readonly privateAddresses: boolean;
  /** HTTP proxy for public receivers; null for none. */
  readonly egressProxy: string | null;
  readonly userAgent: string;
  /** Name servers as addresses with ports; by default the host's. */
  readonly nameServers?: readonly string[];
  /** Bound on a whole attempt, in ms. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
/** Most bytes of an answer that are read. A longer answer closes the connection. */
const maxAnswerBytes = 64 * 1024;

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const outbound = createOutbound(timeoutMs, options.egressProxy, ofNameServers(options.nameServers ?? null));
  return {
    async send(request) {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
      try {
        return answerOf(await post(outbound, options, request, signal));
      } catch (error) {
        return failed(null, reasonOf(error, request.signal, options));
      }
    },
    close: () => outbound.close(),
  };
}

async function post(
  outbound: Outbound,
  { privateAddresses, userAgent }: WebhookSenderOptions,
  { url, messageId, at, body, secrets }: WebhookRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign(messageId, at, body));
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  };
  const response = await outbound.send(
    { privateAddresses },
    { method: 'POST', url, headers, body: Buffer.from(body), signal },
  );
  // After a short answer the connection is kept for the next request. The end of the answer does not matter.
  await response.body.dump({ limit: maxAnswerBytes, signal }).catch(() => undefined);
  return response;
}

function answerOf({ statusCode: status, headers }: OutboundResponse): WebhookAnswer {
  if (status >= 200 && status < 300) return { outcome: 'taken', status };
  if (status === 410)
    return { outcome: 'gone', status, reason: 'The receiver answered 410: it wants no more of them.' };
  if (status >= 300 && status < 400) {
    return failed(status, `The receiver answered ${status}, a redirect; redirects are not followed.`);
  }
  return { ...failed(status, `The receiver answered ${status}.`), retryAfterMs: retryAfterMs(headers['retry-after']) };
}

const failed = (status: number | null, reason: string) =>
  ({ outcome: 'failed', status, reason, retryAfterMs: null }) as const;

/** Returns the wait of a header in seconds. A date is ignored, and the usual wait applies. */
function retryAfterMs(header: string | string[] | undefined): number | null {
  const seconds = typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : null;
  return seconds === null ? null : seconds * 1000;
}

/**
 * Returns the reason for the owner. It contains only our or Node's names of errors, no address and no text of a receiver.
 */
function reasonOf(error: unknown, cut: AbortSignal, { privateAddresses }: WebhookSenderOptions): string {
  if (cut.aborted) return 'The attempt was broken off.';
  if (isPrivate(error)) return 'The address of the receiver is not a public one.';
  const { name, code } = error as NodeJS.ErrnoException;
  if (privateAddresses)
    return namesOnly[code ?? ''] ?? 'The receiver did not answer: it was not reached, or broke off.';
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'The receiver did not answer in time.';
  return (
    sentences[code ?? ''] ??
    `The receiver was not reached (${/^[A-Z][A-Z0-9_]{1,40}$/.test(code ?? '') ? code : 'connection'}).`
  );
}

function isPrivate(error: unknown): boolean {
  return error instanceof PrivateAddressError || (error instanceof Error && isPrivateCause(error.cause));
}

const isPrivateCause = (cause: unknown): boolean => cause instanceof PrivateAddressError;

/**
 * The reasons that are given when receivers may be in the operator's own network. Further reasons would reveal its open
 * ports.
 */
const namesOnly: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name of the receiver leads to no address.',
  EAI_AGAIN: 'The name of the receiver could not be looked up.',
};

const sentences: Readonly<Record<string, string>> = {
  ...namesOnly,
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection without an answer.',
  UND_ERR_SOCKET: 'The receiver closed the connection without an answer.',
  CERT_HAS_EXPIRED: "The receiver's certificate has expired.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The receiver's certificate is signed by itself.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The receiver's certificate is for another name.",
};

/** Makes a secret: `whsec_` and 32 random bytes in base64, the form of a symmetric secret in Standard Webhooks. */
export const makeWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
