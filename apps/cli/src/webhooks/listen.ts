/** `lodge webhooks listen`: events as they come, sent to a local port as a webhook would send them. */
import type { LodgeEvent } from '@lodge/sdk';
import { createHmac, randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { agentIdOf } from '../agent-of.ts';
import { examples } from '../examples.ts';
import { usageError } from '../failure.ts';
import type { On, Run } from '../run.ts';
import { readSecret } from '../secrets.ts';
import { quoted, safeLine } from '../terminal/safe.ts';
import { given, several } from '../values.ts';

interface ListenOptions {
  readonly forward?: string;
  readonly event?: readonly string[];
  readonly agent?: string;
  readonly secret?: string;
}

interface Answer {
  readonly status: number | null;
  readonly reason: string | null;
  readonly duration_ms: number;
}

/** As long as a webhook waits. */
const answerMs = 10_000;
const secretBytes = 24;

export function defineListen(command: Command, on: On): void {
  const listen = command
    .command('listen')
    .option('--forward <address>', 'send each event there, signed, such as http://localhost:3000/hook')
    .option('--event <type>', 'only a type such as agent.paused, or a family such as agent.*', several)
    .option('--agent <agent>', 'only those of this agent')
    .option('--secret <source>', "sign with this webhook's secret: env:NAME, file:PATH, - for stdin")
    .description('Show events as they come, and send them to a local server, which needs no public address.');
  examples(
    listen,
    ['lodge webhooks listen --forward http://localhost:3000/hook', 'try your receiver with real events'],
    ["lodge webhooks listen --event 'message.*'", 'show them alone'],
  ).action(on(followEvents));
}

async function followEvents(run: Run, options: ListenOptions): Promise<void> {
  const { forward, event: wanted, agent, secret } = options;
  if (forward !== undefined && !/^https?:$/.test(URL.canParse(forward) ? new URL(forward).protocol : ''))
    throw usageError(`${quoted(forward)} is no address of a web server.`);
  if (secret !== undefined && forward === undefined) throw usageError('--secret goes with --forward.');
  const key =
    secret === undefined
      ? `whsec_${randomBytes(secretBytes).toString('base64')}`
      : await readSecret(run, secret, '', '--secret ');
  const agentId = agent === undefined ? undefined : await agentIdOf(run, agent);
  const lodge = await run.lodge();
  if (forward !== undefined && secret === undefined)
    run.out.note(`Events are signed with a secret of this run: ${key}`);
  if (!run.out.isJson) run.out.note('Waiting for events. Ctrl-C ends it.');
  const since = new Date().toISOString();
  for await (const event of lodge.events.follow({ since, ...given({ agent_id: agentId }) }, run.call)) {
    if (wanted && !wanted.some((pattern) => fits(pattern, event.type))) continue;
    const answer = forward === undefined ? null : await deliver(run, forward, key, event);
    show(run, event, answer);
  }
}

const fits = (pattern: string, type: string): boolean =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)));

/** One signed request, as Standard Webhooks describes it. */
async function deliver(run: Run, address: string, secret: string, event: LodgeEvent): Promise<Answer> {
  const body = JSON.stringify(event);
  const time = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${event.id}.${time}.${body}`).digest('base64');
  const begun = performance.now();
  const told = (status: number | null, reason: string | null): Answer => ({
    status,
    reason,
    duration_ms: Math.round(performance.now() - begun),
  });
  try {
    const reply = await fetch(address, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'webhook-id': event.id,
        'webhook-timestamp': time,
        'webhook-signature': `v1,${signature}`,
      },
      body,
      signal: AbortSignal.any([run.signal, AbortSignal.timeout(answerMs)]),
    });
    await reply.body?.cancel();
    return told(reply.status, null);
  } catch (error) {
    run.signal.throwIfAborted();
    const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: string } };
    return told(null, name === 'TimeoutError' ? 'no answer in 10 seconds' : (cause?.code ?? 'it was not reached'));
  }
}

function show(run: Run, event: LodgeEvent, answer: Answer | null): void {
  run.out.item({ event, answer }, () => {
    const head = run.out.paint('dim', safeLine(event.created_at, 40));
    const what = `${safeLine(event.type, 60)}${event.agent_id === null ? '' : ` ${safeLine(event.agent_id, 20)}`}`;
    return `${head} ${what}${answer === null ? '' : ` ${answerText(run, answer)}`}\n`;
  });
}

function answerText(run: Run, { status, reason, duration_ms: ms }: Answer): string {
  if (status === null) return run.out.paint('red', `-> ${safeLine(reason ?? '', 100)}`);
  return run.out.paint(status >= 200 && status < 300 ? 'green' : 'yellow', `-> ${status} in ${ms} ms`);
}
