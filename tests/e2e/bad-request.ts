import type { ErrorCode, ErrorType } from '@lodge/domain';
/** A row of the table of bad input, and the possible answers. */

export interface Facts {
  readonly agentId: string;
  readonly keys: Readonly<Record<KeyName, string>>;
}

export type KeyName = 'all' | 'read' | 'write' | 'chat' | 'expired' | 'revoked' | 'unknown';

export interface BadRequest {
  readonly title: string;
  readonly method?: string;
  /** `{id}` is the one agent's. */
  readonly path: string;
  /** A key with every scope by default; null for none. */
  readonly key?: KeyName | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body as a value, or as it goes over the wire. */
  readonly json?: unknown;
  readonly body?: string | Uint8Array | ReadableStream;
  readonly status: number;
  readonly type: ErrorType;
  readonly code: ErrorCode;
  /** Words that the message must contain. */
  readonly names?: string | readonly string[];
}

export type Rest = Partial<Omit<BadRequest, 'title' | 'status' | 'type' | 'code'>>;

export const invalid = { status: 400, type: 'invalid_request_error', code: 'invalid_request' } as const;
export const invalidJson = { status: 400, type: 'invalid_request_error', code: 'invalid_json' } as const;
export const tooLarge = { status: 413, type: 'invalid_request_error', code: 'request_too_large' } as const;
export const wrongMedia = { status: 415, type: 'invalid_request_error', code: 'unsupported_media_type' } as const;
export const noScope = { status: 403, type: 'authorization_error', code: 'insufficient_scope' } as const;
export const noAgent = { status: 404, type: 'not_found_error', code: 'agent_not_found' } as const;
export const noRoute = { status: 404, type: 'not_found_error', code: 'route_not_found' } as const;
export const wrongMethod = { status: 405, type: 'invalid_request_error', code: 'method_not_allowed' } as const;
export const notRunning = { status: 409, type: 'invalid_request_error', code: 'agent_not_running' } as const;
export const unauthenticated = { status: 401, type: 'authentication_error' } as const;

export const get = (title: string, path: string, answer: Omit<BadRequest, 'title' | 'path'>): BadRequest => ({
  title,
  method: 'GET',
  path,
  ...answer,
});

export const messages = [{ role: 'user', content: 'Hello' }];
export const chat = (
  title: string,
  json: unknown,
  rest: Rest & Pick<BadRequest, 'status' | 'type' | 'code'>,
): BadRequest => ({
  title: `chat with ${title}`,
  path: '/v1/agents/{id}/chat/completions',
  json,
  ...rest,
});
