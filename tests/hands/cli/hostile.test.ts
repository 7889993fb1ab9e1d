/** 40 hostile strings as names, log lines, file names, values and errors: no terminal escape leaves, and tables stay whole. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { width } from '../../../apps/cli/src/terminal/width.ts';
import { openWorld, send } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { newPerson } from './command.ts';
import type { Person } from './command.ts';
import { hostileStrings, obeyedIn } from './hostile-strings.ts';
import { logWriter } from '@lodge/store/logs';

const model = 'anthropic/claude-sonnet-5';

describe('what others wrote', () => {
  let world: World;
  let person: Person;
  /** Names as the API has them: trimmed. */
  const names: string[] = [];
  before(async () => {
    world = await openWorld({ withGuest: true });
    person = await newPerson({ LODGE_URL: world.url, LODGE_API_KEY: world.key, NO_COLOR: '1' });
    for (const name of hostileStrings) {
      const body = {
        name: name.slice(0, 100),
        model,
        description: name,
        instructions: name,
        metadata: { [name.slice(0, 20)]: name },
      };
      const {
        status,
        body: agent,
        text,
      } = await send(world.url, 'POST', '/v1/agents?wait=false', { key: world.key, body });
      assert.equal(status, 202, text);
      names.unshift(agent.name);
    }
  });
  after(() => Promise.all([world.close(), person.remove()]));

  const idsOf = async (): Promise<string[]> => {
    const { stdout } = await person.lodge(['agents', 'list']);
    return stdout.split('\n').map((line) => line.split('\t')[0]!);
  };

  test('a list of 40 agents is 41 whole lines', async () => {
    for (const columns of [60, 120]) {
      const { stdout } = await person.atTerminal(['agents', 'list'], { columns }).ended();
      assert.equal(obeyedIn(stdout), null);
      const lines = stdout.split('\r\n');
      assert.equal(lines.pop(), '');
      assert.equal(lines.length, 41);
      for (const line of lines) assert.ok(width(line) <= columns, `${width(line)}: ${line}`);
      const [head] = lines;
      const ages = lines.map((line) => width(line.replace(/\s*\S+$/, '')) <= width(head!));
      assert.ok(ages.every(Boolean));
    }
  });

  test('in a pipe each agent is one line of seven fields, and in JSON its name is what it was', async () => {
    const piped = await person.lodge(['agents', 'list']);
    assert.equal(obeyedIn(piped.stdout), null);
    const lines = piped.stdout.split('\n').slice(0, -1);
    assert.deepEqual(
      lines.map((line) => line.split('\t').length),
      Array.from({ length: 40 }, () => 7),
    );
    const json = await person.lodge(['agents', 'list', '--json']);
    assert.equal(obeyedIn(json.stdout), null);
    assert.deepEqual(
      JSON.parse(json.stdout).data.map(({ name }: { name: string }) => name),
      names,
    );
    const raw = await person.lodge(['api', 'GET', '/v1/agents', '-F', 'limit=100']);
    assert.equal(obeyedIn(raw.stdout), null);
  });

  test('one agent, the models, and completion are harmless too', async () => {
    const some = (await idsOf()).filter((_, at) => at % 8 === 0 && at < 40);
    const commands = [...some.map((id) => ['agents', 'show', id]), ['models'], ['__complete', '--', 'chat', '']];
    for (const { stdout, code } of await Promise.all(commands.map((args) => person.lodge(args)))) {
      assert.equal(code, 0);
      assert.equal(obeyedIn(stdout), null);
    }
  });

  test('lines of a log stay one line each', async () => {
    const [id] = await idsOf();
    const line = (message: string) => ({ level: 'error' as const, source: 'console' as const, message });
    await logWriter(world.store.database).append(id!, hostileStrings.map(line));
    const [screen, piped, json] = await Promise.all([
      person.atTerminal(['logs', id!, '--source', 'console']).ended(),
      person.lodge(['logs', id!, '--source', 'console']),
      person.lodge(['logs', id!, '--source', 'console', '--json']),
    ]);
    for (const { stdout, code } of [screen, piped, json]) {
      assert.equal(code, 0);
      assert.equal(obeyedIn(stdout), null);
      assert.equal(stdout.trimEnd().split('\n').length, 40);
    }
    const messages = json.stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text).message);
    assert.deepEqual(messages, hostileStrings);
  });

  test('names of files are one line each, and none leads out of the folder that they are copied to', async () => {
    const [id] = await idsOf();
    await send(world.url, 'POST', `/v1/agents/${id}/start`, { key: world.key, body: {} });
    const names = [...new Set(hostileStrings.map((text) => text.replaceAll('/', '_').slice(0, 60).toWellFormed()))];
    const folder = join(world.guest!.root, 'workspace', 'evil');
    await mkdir(folder);
    for (const name of names) await writeFile(join(folder, name), name);
    const listed = await person.lodge(['files', 'list', id!, 'evil']);
    assert.equal(listed.code, 0, listed.stderr);
    assert.equal(obeyedIn(listed.stdout), null);
    assert.equal(listed.stdout.trimEnd().split('\n').length, names.length);
    const { stdout } = await person.atTerminal(['files', 'list', id!, 'evil'], { columns: 60 }).ended();
    assert.equal(obeyedIn(stdout), null);
    for (const line of stdout.split('\r\n')) assert.ok(width(line) <= 60, line);
    const copied = await person.atTerminal(['cp', '-r', `${id}:evil`, 'copy'], { columns: 60 }).ended();
    assert.equal(obeyedIn(copied.stdout.replaceAll('\r\x1b[K', '')), null, JSON.stringify(copied.stdout));
  });

  test('what a person typed comes back harmless', async () => {
    const evil = hostileStrings.filter((text) => !text.startsWith('-')).slice(0, 12);
    const ended = await Promise.all(
      evil.map((text, at) => person.lodge(at % 2 === 0 ? ['agents', 'show', text] : [text])),
    );
    for (const { stdout, stderr, code } of ended) {
      assert.ok([0, 2].includes(code!), `${code}: ${stderr}`);
      assert.equal(obeyedIn(stdout + stderr), null, JSON.stringify(stdout + stderr));
    }
  });

  test('a server that is hostile itself sends nothing to the terminal: errors, codes, ids, headers, redirects', async () => {
    const whole = hostileStrings.join(' ');
    let at = 0;
    const server = createServer((request, reply) => {
      const text = [whole, ...hostileStrings][(at += 1) % 41]!;
      const status = [400, 404, 409, 418, 302][at % 5]!;
      const visible = encodeURIComponent(text).slice(0, 500);
      reply.writeHead(request.url!.includes('health') ? 200 : status, {
        'content-type': 'application/json',
        'x-request-id': visible,
        location: `http://127.0.0.1/${visible}`,
      });
      const error = { type: text, code: text, message: text };
      reply.end(JSON.stringify({ error, status: text, step: text, version: text, name: text, id: text }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const env = { LODGE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const commands = [
      ['status'],
      ['version'],
      ['account'],
      ['limits'],
      ['host', 'status'],
      ['agents', 'list'],
      ['agents', 'show', 'ada'],
      ['open', 'ada'],
      ['login', '--no-browser'],
    ];
    for (const args of [...commands, ...commands.map((args) => [...args, '--json'])]) {
      const { stdout, stderr } = await person.atTerminal(args, { env }).ended();
      assert.equal(obeyedIn(stdout + stderr), null, `${args.join(' ')}: ${JSON.stringify(stdout)}`);
    }
    server.closeAllConnections();
    server.close();
  });
});
