/** `lodge ports forward`: local ports whose connections go to ports of an agent's machine. */
import type { Lodge } from '@lodge/sdk';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { once } from 'node:events';
import type { Command } from 'commander';
import { agentIdOf } from '../agent-of.ts';
import { agentArgument } from '../arguments.ts';
import { examples } from '../examples.ts';
import { CommandError, exitCodes, usageError } from '../failure.ts';
import type { On, Run } from '../run.ts';
import { quoted, safeLine } from '../terminal/safe.ts';

interface ForwardOptions {
  readonly address: string;
  readonly wake?: true;
}

interface Pair {
  readonly local: number;
  readonly remote: number;
}

interface Way {
  readonly run: Run;
  readonly lodge: Lodge;
  readonly agentId: string;
  readonly remote: number;
  readonly isWoken: boolean;
}

export function defineForward(command: Command, on: On): void {
  const forward = command
    .command('forward')
    .argument(...agentArgument)
    .argument('<ports...>', 'LOCAL:REMOTE, or one number for both; 0:REMOTE takes a free one')
    .option('--address <address>', 'where to listen; who reaches it reaches the agent', '127.0.0.1')
    .option('--wake', 'start the agent where it is stopped')
    .description("Listen on local ports, and carry connections to ports of the agent's machine, until Ctrl-C.");
  examples(
    forward,
    ['lodge ports forward ada 3000', 'open http://localhost:3000 to see the web server of ada'],
    ['lodge ports forward ada 15432:5432', 'reach the Postgres of ada at port 15432'],
  ).action(on(forwardPorts));
}

async function forwardPorts(run: Run, options: ForwardOptions, agent: string, given: readonly string[]): Promise<void> {
  const pairs = given.map(pairOf);
  const agentId = await agentIdOf(run, agent);
  const lodge = await run.lodgeWithSockets(true);
  const servers: Server[] = [];
  try {
    for (const { local, remote } of pairs) {
      const way = { run, lodge, agentId, remote, isWoken: options.wake === true };
      const server = await listening(options.address, local, (socket) => void carry(way, socket));
      servers.push(server);
      const { port, address } = server.address() as AddressInfo;
      const told = { local: port, remote, address };
      run.out.item(told, () => `${safeLine(address)}:${port} -> ${safeLine(agent)}:${remote}\n`);
    }
    await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve(), { once: true }));
  } finally {
    for (const server of servers) server.close();
  }
}

function pairOf(text: string): Pair {
  const found = /^(?:(\d{1,5}):)?(\d{1,5})$/.exec(text);
  const remote = Number(found?.[2]);
  const local = found?.[1] === undefined ? remote : Number(found[1]);
  if (!(remote >= 1 && remote <= 65_535 && local <= 65_535))
    throw usageError(`${quoted(text)} is no pair of ports, such as 8080:3000.`);
  return { local, remote };
}

async function listening(address: string, port: number, take: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, take);
  server.listen(port, address);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      exitCodes.failure,
      `Port ${port} of ${safeLine(address)} cannot be listened on: ${code}.`,
      'Name another local port: LOCAL:REMOTE.',
    );
  }
  return server;
}

/** Carries one connection to its end. A failure ends this connection alone, and is told. */
async function carry({ run, lodge, agentId, remote, isWoken }: Way, socket: Socket): Promise<void> {
  const ended = new AbortController();
  socket.on('error', () => ended.abort()).on('close', () => ended.abort());
  try {
    const signal = AbortSignal.any([run.signal, ended.signal]);
    const tunnel = await lodge.ports.tunnel(agentId, remote, isWoken ? { wake: true } : {}, { signal });
    const sending = (async () => {
      // Its end is not the end of what comes back.
      const bytes = socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      for await (const chunk of bytes) await tunnel.write(chunk);
      tunnel.end();
    })().catch(() => tunnel.close());
    for await (const chunk of tunnel.input)
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain', { signal }), tunnel.closed]);
    socket.end();
    await Promise.race([sending, tunnel.closed]);
    const { isWhole, reason } = await tunnel.closed;
    if (!isWhole && !signal.aborted) run.out.note(`A connection to port ${remote} was cut: ${safeLine(reason, 200)}.`);
  } catch (error) {
    if (!run.signal.aborted && !ended.signal.aborted)
      run.out.note(`No connection to port ${remote}: ${safeLine(error instanceof Error ? error.message : '', 300)}`);
  } finally {
    socket.destroy();
  }
}
