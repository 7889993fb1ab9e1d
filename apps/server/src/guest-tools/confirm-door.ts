/**
 * The door at which a runtime asks before it runs a command or changes a file: `POST /confirm`. The agent is known by its
 * machine's address alone. The answer may take as long as a call waits for a person.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { JsonBoundsError, asObject, boundedJson, commandBounds } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { confirmCommand } from '@lodge/engine';
import type { GivenCommand, ToolGuest } from '@lodge/engine';
import type { CallGuard } from '@lodge/ports';
import { bodyOf } from './body.ts';

const bodyBounds = { bytes: 128 * 1024, depth: 2, elements: 10 } as const;

/** The same as `Door` of the broker. */
interface ConfirmDoor {
  handle(guest: ToolGuest, req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void>;
}

export const createConfirmDoor = (guard: CallGuard): ConfirmDoor => ({
  async handle({ agentId, accountId, confirmations }, req, res, signal) {
    const command =
      req.method === 'POST' && req.url === '/confirm' ? await commandOf(req) : 'Only POST /confirm is here.';
    if (typeof command === 'string') return reply(req, res, 400, { verdict: 'denied', message: command });
    const answer = await confirmCommand(guard, { agentId, accountId, confirmations }, command, signal);
    if (!signal.aborted) reply(req, res, 200, { ...answer });
  },
});

function reply(req: IncomingMessage, res: ServerResponse, status: number, body: Json): void {
  // The unread rest of a body is not awaited.
  res.writeHead(status, { 'content-type': 'application/json', ...(!req.complete && { connection: 'close' }) });
  res.end(JSON.stringify(body));
}

/** Returns the command, or a sentence for the agent. */
async function commandOf(req: IncomingMessage): Promise<GivenCommand | string> {
  let given: Json | null;
  try {
    given = asObject(boundedJson(await bodyOf(req, bodyBounds.bytes), bodyBounds));
  } catch (error) {
    if (error instanceof JsonBoundsError) return 'The command is too long to be shown to the owner.';
    if (error instanceof SyntaxError) return 'The body is not JSON.';
    throw error;
  }
  const { tool, text, detail, digest } = given ?? {};
  const { toolChars, textChars, detailChars } = commandBounds;
  if (typeof text === 'string' && text.length > textChars) {
    return `A command that the owner may want to see has at most ${textChars} characters. Write a script, and run that.`;
  }
  if (!isText(tool, toolChars) || !isText(text, textChars) || !isText(detail, detailChars) || !isDigest(digest)) {
    return 'The body must have tool, text, detail and digest.';
  }
  return { tool, text, detail, digest };
}

const isText = (value: unknown, maxChars: number): value is string =>
  typeof value === 'string' && value.length <= maxChars;

const isDigest = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
