import { Refusal } from '@lodge/domain';
import { StringDecoder } from 'node:string_decoder';
import {
  AgentParams,
  ChatQuery,
  ExecRequest,
  ExecResult,
  defaultExecSeconds,
  errorBody,
  ExecStreamEvent,
} from '@lodge/contract';
import type { ExecEvent, ExecOutcome, ExecRequest as GuestExec } from '@lodge/guest';
import type { Log } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendEvents } from '../../reply/event-stream.ts';
import { maxCharsAtOnce, sendLongTexts } from '../../reply/long-texts.ts';
import type { App } from '../../app-types.ts';
import type { GuestAccess } from '../../needs.ts';
import { reportError } from '../../pipeline/errors.ts';
import { guestErrors, guestRefusal, ofGuest } from '../../guest/guest-error.ts';
import { liveGuest } from '../../guest/live-guest.ts';
import { countRoot, recordRoot, type RootActs } from '../../guest/root.ts';
import type { LiveGuest } from '../../guest/live-guest.ts';

/** Time beyond the command's own, for the way to the guest and back. */
const marginMs = 30_000;
const workspace = '/workspace';
const outputBytes = 1024 * 1024;
/** Bound on each stream of a followed command. */
const streamedBytes = 16 * 1024 * 1024;

const schema = {
  operationId: 'execInAgent',
  tags: ['Shell'],
  summary: "Run a command in an agent's machine",
  description:
    'In its workspace, as the agent’s own user or as `root` of its machine. With `stream: true` the reply is `text/event-stream`: events `stdout` and `stderr` with `{"text"}` as the command writes, up to 16 MiB of each, then one `exit` with what the plain reply has; comments while it is silent; an event `error` when it was cut off. Closing the connection kills the command with all that it has started. A paused agent is resumed first; a stopped one answers 409, unless `wake=true` or its `lifecycle.auto_start` says that it is to be started.',
  params: AgentParams,
  querystring: ChatQuery,
  body: ExecRequest,
  response: {
    200: {
      description: 'How the command ended, and what it wrote.',
      content: { 'application/json': { schema: ExecResult }, 'text/event-stream': { schema: ExecStreamEvent } },
    },
  },
};
const config = {
  rate: 'calls',
  scopes: ['agents:write'],
  errors: guestErrors,
} as const;

interface Needs extends GuestAccess, RootActs {
  /** A stream that was silent this long gets a comment line; 10 s by default. */
  readonly chatSilenceMs?: number;
  readonly log: Log;
}

export function execRoute(app: App, context: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/exec',
    schema,
    config,
    handler: async (request, reply) => {
      const { body } = request;
      const asked = guestRequest(body);
      if (body.user === 'root') await countRoot(context, request, reply);
      const live = await liveGuest(context, request, reply, asked.timeoutMs + marginMs);
      const wanted = { ...asked, env: { ...live.env, ...asked.env } };
      if (body.user === 'root') await recordRoot(context, request, 'exec');
      const startedAt = performance.now();
      if (body.stream === true) return stream(context, request, reply, { live, wanted, startedAt });
      const { stdout, stderr, ...outcome } = await started(live.guest.execCollected(wanted, live));
      const record = { object: 'exec' as const, ...outcomeRecord(outcome, startedAt) };
      if (stdout.length + stderr.length < maxCharsAtOnce) return { ...record, stdout, stderr };
      return sendLongTexts(reply, record, { stdout, stderr });
    },
  });
}

function guestRequest({ command, argv, user, cwd, env, stdin, timeout_seconds, stream }: ExecRequest): GuestExec {
  return {
    argv: argv ?? ['/bin/bash', '-c', command!],
    timeoutMs: (timeout_seconds ?? defaultExecSeconds) * 1000,
    maxOutputBytes: stream === true ? streamedBytes : outputBytes,
    ...(user !== undefined && { user }),
    ...(cwd !== undefined && { cwd: cwd.startsWith('/') ? cwd : `${workspace}/${cwd}` }),
    // The daemon begins root's own commands in another folder.
    ...(cwd === undefined && user === 'root' && { cwd: workspace }),
    ...(env && { env }),
    ...(stdin !== undefined && { stdin }),
  };
}

/** A command that does not start has no program or folder: that is the command's fault. */
async function started<T>(answer: Promise<T>): Promise<T> {
  try {
    return await ofGuest(answer);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'invalid_request') throw error;
    throw new Refusal(
      'invalid_request',
      'The command could not be started. Is there such a program (argv[0]) and folder (cwd), and may the agent use them?',
    );
  }
}

function outcomeRecord({ exitCode, signal, timedOut, truncated }: ExecOutcome, startedAt: number) {
  return {
    exit_code: exitCode,
    signal,
    timed_out: timedOut,
    truncated,
    duration_ms: Math.round(performance.now() - startedAt),
  };
}

interface Followed {
  readonly live: LiveGuest;
  readonly wanted: GuestExec;
  readonly startedAt: number;
}

async function stream(
  context: Needs,
  request: FastifyRequest,
  reply: FastifyReply,
  { live, wanted, startedAt }: Followed,
) {
  const events = await started(live.guest.execStream(wanted, live));
  async function* blocks(): AsyncGenerator<string> {
    try {
      yield* eventBlocks(events, startedAt);
    } catch (error) {
      const { code, message } = reportError(context.log, guestRefusal(error), request);
      yield eventBlock('error', errorBody(code, message));
    }
  }
  return sendEvents(reply, blocks(), { silenceMs: context.chatSilenceMs });
}

/** A character may come in two pieces: text is sent once it is whole. */
async function* eventBlocks(events: AsyncIterable<ExecEvent>, startedAt: number): AsyncGenerator<string> {
  const decoders = { stdout: new StringDecoder(), stderr: new StringDecoder() };
  for await (const event of events) {
    if (event.kind !== 'exit') {
      const text = decoders[event.kind].write(event.bytes);
      if (text !== '') yield eventBlock(event.kind, { text });
      continue;
    }
    for (const kind of ['stdout', 'stderr'] as const) {
      const text = decoders[kind].end();
      if (text !== '') yield eventBlock(kind, { text });
    }
    yield eventBlock('exit', { object: 'exec', ...outcomeRecord(event.outcome, startedAt) });
  }
}

const eventBlock = (event: string, data: object): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
