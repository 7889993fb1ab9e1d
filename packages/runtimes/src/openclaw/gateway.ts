import { request } from 'undici';
import { gatewayPort } from './config.ts';

/**
 * The gateway answered with an error, or not at all. `status` is null when no HTTP reply came. The message holds neither
 * the token nor what was sent.
 */
export class GatewayError extends Error {
  readonly status: number | null;
  /** OpenClaw's own code of an admin RPC's error, such as `UNAVAILABLE`. */
  readonly code: string | null;
  constructor(status: number | null, code: string | null, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GatewayError';
    this.status = status;
    this.code = code;
  }
}

export interface GatewayCallOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ChatOptions extends GatewayCallOptions {
  /** `<provider>/<model>` of the guest's configuration. */
  readonly model: string;
  readonly text: string;
  readonly stream: boolean;
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

const mostReplyBytes = 4 * 1024 * 1024;

/** The HTTP side of one guest's OpenClaw gateway: readiness, admin RPC, chat. Connections are not kept: a clone's would be dead. */
export class Gateway {
  private readonly address: string;
  private readonly token: string;

  constructor(address: string, token: string) {
    this.address = address;
    this.token = token;
  }

  /** Null when it serves; else what it says it still waits for. Needs no token. */
  async failing(options: GatewayCallOptions): Promise<string | null> {
    const reply = await this.send('GET', '/readyz', {}, undefined, options);
    if (reply.status === 200) return null;
    const { failing } = asObject(reply.text);
    return Array.isArray(failing) && failing.length > 0 ? failing.join(', ') : `HTTP ${reply.status}`;
  }

  /** One admin RPC; resolves with its payload. */
  async rpc(method: string, params: object, options: GatewayCallOptions): Promise<Record<string, unknown>> {
    const reply = await this.send('POST', '/api/v1/admin/rpc', {}, { method, params }, options);
    const { ok, payload, error } = asObject(reply.text);
    if (reply.status === 200 && ok === true && typeof payload === 'object' && payload !== null) {
      return payload as Record<string, unknown>;
    }
    const { code, message } = errorIn(error);
    throw new GatewayError(
      reply.status,
      code,
      `OpenClaw refused ${method} (HTTP ${reply.status}): ${message ?? 'no reason'}`,
    );
  }

  /** One turn in a session of its own; resolves with the answer's text. */
  async chat(chat: ChatOptions): Promise<string> {
    const body = { model: chatModel, stream: chat.stream, messages: [{ role: 'user', content: chat.text }] };
    const reply = await this.send('POST', chatPath, modelHeader(chat.model), body, chat);
    const answer = chat.stream ? streamedText(reply.text) : plainText(reply.text);
    if (reply.status !== 200 || answer === null) {
      const { message } = errorIn(asObject(reply.text)['error']);
      throw new GatewayError(
        reply.status,
        null,
        `OpenClaw did not answer a chat (HTTP ${reply.status}): ${message ?? 'no text'}`,
      );
    }
    return answer;
  }

  private async send(
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    body: object | undefined,
    { timeoutMs, signal }: GatewayCallOptions,
  ): Promise<Reply> {
    signal.throwIfAborted();
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const reply = await request(`http://${this.address}:${gatewayPort}${path}`, {
        method,
        headers: { ...bearer(this.token), ...headers, ...(body && { 'content-type': 'application/json' }) },
        body: body ? JSON.stringify(body) : null,
        signal: AbortSignal.any([signal, deadline]),
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        reset: true,
      });
      return { status: reply.statusCode, text: await boundedText(reply.body) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof GatewayError) throw error;
      const why = deadline.aborted ? `within ${timeoutMs} ms` : `(${(error as Error).message})`;
      throw new GatewayError(null, null, `OpenClaw did not answer ${method} ${path} ${why}`, { cause: error });
    }
  }
}

/** The gateway's default agent: OpenClaw takes the name of an agent where OpenAI has the name of a model. */
const chatModel = 'openclaw';
const chatPath = '/v1/chat/completions';

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Chooses the backend model for the whole turn, its tool rounds and compaction included; needs no allow list. */
export const modelHeader = (model: string): Record<string, string> => ({ 'x-openclaw-model': model });

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > mostReplyBytes)
      throw new GatewayError(null, null, `OpenClaw's reply is longer than ${mostReplyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A guest is not trusted: what is not JSON, or no object, has no fields. */
function asObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function errorIn(error: unknown): { code: string | null; message: string | null } {
  const { code, message } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  return {
    code: typeof code === 'string' ? code : null,
    message: typeof message === 'string' ? message.slice(0, 500) : null,
  };
}

interface Choices {
  readonly choices?: readonly { readonly message?: { content?: unknown }; readonly delta?: { content?: unknown } }[];
}

function plainText(text: string): string | null {
  const content = (asObject(text) as Choices).choices?.[0]?.message?.content;
  return typeof content === 'string' ? content : null;
}

/** Null unless the stream ended the way it should and had text. */
function streamedText(text: string): string | null {
  const events = text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
  if (events.at(-1)?.trim() !== '[DONE]') return null;
  const parts = events.map((event) => (asObject(event) as Choices).choices?.[0]?.delta?.content);
  const answer = parts.filter((part) => typeof part === 'string').join('');
  return answer === '' ? null : answer;
}
