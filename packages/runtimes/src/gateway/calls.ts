/** Calls to a runtime's gateway that start, warm and supervise it, beside the turns of its agent. */
import { asObject, NamedError, textBounds } from '@lodge/domain';
import type { Dial } from '@lodge/ports';
import { readEvent, readWhole } from './answers.ts';
import { originAt, readText, send } from './connection.ts';
import { eventBlocks } from './event-reader.ts';
import { parseObject } from './json.ts';

/**
 * Thrown when a gateway answered with an error, or not at all. `status` is null when no HTTP reply came. The message
 * contains neither the token nor the request.
 */
export class GatewayError extends NamedError {
  readonly status: number | null;
  /** The gateway's own code of an error, such as `UNAVAILABLE`. */
  readonly code: string | null;
  constructor(status: number | null, code: string | null, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

export interface GatewayCallOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ChatOptions extends GatewayCallOptions {
  /** The model's name in the runtime's configuration in the guest. */
  readonly model: string;
  readonly text: string;
  readonly stream: boolean;
}

/** The gateway calls that starting and warming a runtime need. */
export interface RuntimeGateway {
  /** Returns null when it serves; else the thing that it still waits for. Needs no token. */
  failing(options: GatewayCallOptions): Promise<string | null>;
  /** Runs one turn in a session of its own and resolves with the answer's text. */
  chat(chat: ChatOptions): Promise<string>;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** HTTP to the gateway in one guest. Connections are not kept, because a clone's would be dead. */
export class GatewayHttp {
  /** The runtime's name, for messages. */
  readonly name: string;
  private readonly dial: Dial;
  private readonly origin: string;
  private readonly token: string;

  constructor(name: string, { dial, port }: { readonly dial: Dial; readonly port: number }, token: string) {
    this.name = name;
    this.dial = dial;
    this.origin = originAt(port);
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
      const reply = await send(this.dial, `${this.origin}${path}`, {
        method,
        headers: { ...bearer(this.token), ...headers },
        body,
        signal: AbortSignal.any([signal, deadline]),
      });
      return { status: reply.statusCode, text: await readText(reply.body, textBounds.gatewayReply.bytes) };
    } catch (error) {
      signal.throwIfAborted();
      const why = deadline.aborted ? `within ${timeoutMs} ms` : `(${(error as Error).message})`;
      throw new GatewayError(null, null, `${this.name} did not answer ${method} ${path} ${why}`, { cause: error });
    }
  }

  /** Runs one turn by OpenAI's chat completions and resolves with the answer's text. */
  async chat(headers: Readonly<Record<string, string>>, model: string, chat: ChatOptions): Promise<string> {
    const body = { model, stream: chat.stream, messages: [{ role: 'user', content: chat.text }] };
    const reply = await this.send('POST', '/v1/chat/completions', headers, body, chat);
    const answer = chat.stream ? await streamedText(reply.text) : plainText(reply.text);
    if (reply.status === 200 && answer !== '') return answer;
    const { message } = errorIn(parseObject(reply.text, textBounds.turnError)['error']);
    const why = `(HTTP ${reply.status}): ${message ?? 'no text'}`;
    throw new GatewayError(reply.status, null, `${this.name} did not answer a chat ${why}`);
  }
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

export function errorIn(error: unknown): { code: string | null; message: string | null } {
  const { code, message } = asObject(error) ?? {};
  return {
    code: typeof code === 'string' ? code : null,
    message: typeof message === 'string' ? message.slice(0, 500) : null,
  };
}

function plainText(text: string): string {
  const answer = readWhole('chat/completions', text);
  return answer !== null && 'text' in answer ? answer.text : '';
}

/** Returns the text of a stream, or '' unless it ended properly. */
async function streamedText(text: string): Promise<string> {
  const parts: string[] = [];
  for await (const block of eventBlocks(whole(text))) {
    const event = readEvent('chat/completions', block);
    if (event === null || 'error' in event) continue;
    if (event.isLast) return parts.join('');
    parts.push(event.text);
  }
  return '';
}

async function* whole(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
