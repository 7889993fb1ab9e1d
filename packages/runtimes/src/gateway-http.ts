import { request } from 'undici';

/**
 * A gateway answered with an error, or not at all. `status` is null when no HTTP reply came. The message holds neither
 * the token nor what was sent.
 */
export class GatewayError extends Error {
  readonly status: number | null;
  /** The gateway's own code of an error, such as `UNAVAILABLE`. */
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
  /** As the runtime's configuration in the guest names it. */
  readonly model: string;
  readonly text: string;
  readonly stream: boolean;
}

/** What starting and warming a runtime needs of its gateway. */
export interface RuntimeGateway {
  /** Null when it serves; else what it says it still waits for. Needs no token. */
  failing(options: GatewayCallOptions): Promise<string | null>;
  /** One turn in a session of its own; resolves with the answer's text. */
  chat(chat: ChatOptions): Promise<string>;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

const mostReplyBytes = 4 * 1024 * 1024;

/** HTTP to the gateway in one guest. Connections are not kept: a clone's would be dead. */
export class GatewayHttp {
  /** Of the runtime, for messages. */
  readonly name: string;
  private readonly origin: string;
  private readonly token: string;

  constructor(name: string, origin: string, token: string) {
    this.name = name;
    this.origin = origin;
    this.token = token;
  }

  async send(
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    body: object | undefined,
    { timeoutMs, signal }: GatewayCallOptions,
  ): Promise<Reply> {
    signal.throwIfAborted();
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const reply = await request(`${this.origin}${path}`, {
        method,
        headers: { ...bearer(this.token), ...headers, ...(body && { 'content-type': 'application/json' }) },
        body: body ? JSON.stringify(body) : null,
        signal: AbortSignal.any([signal, deadline]),
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        reset: true,
      });
      return { status: reply.statusCode, text: await this.boundedText(reply.body) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof GatewayError) throw error;
      const why = deadline.aborted ? `within ${timeoutMs} ms` : `(${(error as Error).message})`;
      throw new GatewayError(null, null, `${this.name} did not answer ${method} ${path} ${why}`, { cause: error });
    }
  }

  /** One turn, by OpenAI's chat completions; resolves with the answer's text. */
  async chat(headers: Readonly<Record<string, string>>, model: string, chat: ChatOptions): Promise<string> {
    const body = { model, stream: chat.stream, messages: [{ role: 'user', content: chat.text }] };
    const reply = await this.send('POST', '/v1/chat/completions', headers, body, chat);
    const answer = chat.stream ? streamedText(reply.text) : plainText(reply.text);
    if (reply.status === 200 && answer !== null) return answer;
    const { message } = errorIn(asObject(reply.text)['error']);
    const why = `(HTTP ${reply.status}): ${message ?? 'no text'}`;
    throw new GatewayError(reply.status, null, `${this.name} did not answer a chat ${why}`);
  }

  private async boundedText(body: AsyncIterable<Buffer>): Promise<string> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > mostReplyBytes)
        throw new GatewayError(null, null, `${this.name}'s reply is longer than ${mostReplyBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  }
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** A guest is not trusted: what is not JSON, or no object, has no fields. */
export function asObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export function errorIn(error: unknown): { code: string | null; message: string | null } {
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
