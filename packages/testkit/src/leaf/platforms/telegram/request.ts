/** A Bot API request, in each form of its parameters. */
import type { IncomingMessage } from 'node:http';

export interface ApiRequest {
  readonly method: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** By the name that `attach://` gives. */
  readonly files: ReadonlyMap<string, UploadedFile>;
}

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The server takes no larger request. Source: core.telegram.org/bots/api#sending-files, with room for the other fields. */
const maxBodyBytes = 51 * 1024 * 1024;

/** Null when the body is larger than the server takes. Rejects when the client went away before its end. */
export async function readRequest(
  req: IncomingMessage,
  method: string,
  query: URLSearchParams,
): Promise<ApiRequest | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of req as AsyncIterable<Buffer>) {
    size += part.length;
    if (size <= maxBodyBytes) parts.push(part);
  }
  if (size > maxBodyBytes) return null;
  const body = Buffer.concat(parts);
  const type = req.headers['content-type'] ?? '';
  const parameters: Record<string, unknown> = Object.fromEntries(query);
  const files = new Map<string, UploadedFile>();
  if (type.startsWith('application/json')) Object.assign(parameters, jsonOf(body.toString('utf8')));
  else if (type.startsWith('application/x-www-form-urlencoded')) {
    Object.assign(parameters, Object.fromEntries(new URLSearchParams(body.toString('utf8'))));
  } else if (type.startsWith('multipart/form-data')) readMultipart(body, type, parameters, files);
  return { method, parameters, files };
}

function jsonOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Objects come as JSON in a form. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  (typeof value === 'string' ? jsonOf(value) : typeof value === 'object' && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;

function readMultipart(
  body: Buffer,
  type: string,
  parameters: Record<string, unknown>,
  files: Map<string, UploadedFile>,
): void {
  const boundary = /boundary=([^;]+)/.exec(type)?.[1];
  if (boundary === undefined) return;
  const mark = Buffer.from(`--${boundary}`);
  for (let at = body.indexOf(mark); at !== -1;) {
    const next = body.indexOf(mark, at + mark.length);
    if (next === -1) return;
    const part = body.subarray(at + mark.length + 2, next - 2);
    const headEnd = part.indexOf('\r\n\r\n');
    const head = part.subarray(0, headEnd).toString('utf8');
    const content = part.subarray(headEnd + 4);
    const name = /[; ]name="?([^";\r\n]+)"?/.exec(head)?.[1];
    const file = /filename="?([^"\r\n]+?)"?(?:\r\n|$)/.exec(head)?.[1];
    if (name !== undefined && file !== undefined) files.set(name, { name: file, bytes: content });
    else if (name !== undefined) parameters[name] = content.toString('utf8');
    at = next;
  }
}
