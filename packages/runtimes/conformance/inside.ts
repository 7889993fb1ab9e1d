/** Cases: the owner looks into the machine and works in it, with files, commands and terminals. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { formOf } from '@lodge/testkit/forms';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { type Tested } from './world.ts';
import { until } from './until.ts';

const screenTimeoutMs = 300_000;
const settledMs = 120_000;
const terminals = formOf({ short: 5, long: 20 });

class Terminal {
  readonly socket: WebSocket;
  private screen = '';

  constructor({ world: { service }, id }: Tested) {
    const url = `${service.baseUrl.replace('http', 'ws')}/agents/${id}/terminal?cols=100&rows=30`;
    this.socket = new WebSocket(url, { headers: { 'x-api-key': service.apiKey } });
    this.socket.on('message', (data: Buffer, isBinary) => (this.screen += isBinary ? data.toString() : ''));
  }

  type(text: string): void {
    this.socket.send(Buffer.from(text));
  }

  async shows(pattern: RegExp): Promise<void> {
    await until(`${String(pattern)} on the screen`, screenTimeoutMs, () => pattern.test(this.screen));
  }
}

async function open(agent: Tested): Promise<Terminal> {
  const terminal = new Terminal(agent);
  await once(terminal.socket, 'open');
  return terminal;
}

export function inside(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);

  async function command(agent: Tested, text: string): Promise<string> {
    const { status, body } = await agent.world.service.call('POST', `/agents/${agent.id}/exec`, { command: text });
    assert.equal(status, 200, JSON.stringify(body));
    return (body.stdout as string).trim();
  }

  further('a file goes into the workspace and comes back, and its folder lists it', async (agent) => {
    const { service } = agent.world;
    const url = `${service.baseUrl}/agents/${agent.id}/files`;
    const headers = { 'x-api-key': service.apiKey };
    const content = randomBytes(3_000_000);
    const put = await fetch(`${url}/given/grüße.bin`, { method: 'PUT', headers, body: content });
    assert.equal(put.status, 201, await put.text());
    const got = await fetch(`${url}/given/grüße.bin`, { headers });
    assert.ok(Buffer.from(await got.arrayBuffer()).equals(content));
    assert.match(await (await fetch(`${url}/given?list=1`, { headers })).text(), /grüße\.bin/);
    const sum = createHash('sha256').update(content).digest('hex');
    assert.match(await command(agent, 'sha256sum given/*; stat -c %U given/*'), new RegExp(`^${sum} [^]*agent$`));
    assert.equal((await fetch(`${url}/given?recursive=true`, { method: 'DELETE', headers })).status, 200);
  });

  check('commands run as the agent, in its workspace', async (agent) => {
    assert.equal(await command(agent, 'id -un; pwd'), 'agent\n/workspace');
  });

  check('variables reach the commands of a conversation that has begun, with its next turn', async (agent) => {
    const { llm } = agent.world;
    const uses = [subject.shell('echo "seen: ${PLUM-none}."'), ...subject.scripts('PLUM')];
    const sees = async (value: string): Promise<void> => {
      llm.script([...uses.map((use) => ({ toolCalls: [use] })), { text: 'Looked.' }]);
      const before = llm.requests.length;
      assert.match(await agent.answer('Look', { user: 'variables' }), /Looked/);
      const replies = llm.requests.slice(before + 1).map(({ body }) => JSON.stringify(body));
      for (const [index] of uses.entries()) {
        const seen = [...replies[index]!.matchAll(/seen: ([\w-]+)\./g)].at(-1)?.[1];
        assert.equal(seen, value, `${uses[index]!.name}: ${replies[index]!.slice(-3_000)}`);
      }
    };
    const set = async (env: object | null): Promise<void> => {
      await agent.patch({ env });
      await until('it is set', settledMs, async () => (await agent.record()).settings_pending === false);
    };
    const word = `word-${randomBytes(6).toString('hex')}`;
    await sees('none');
    await set({ PLUM: word });
    await sees(word);
    await set(null);
    await sees('none');
  });

  further('interactive programs work in a terminal, and are told of its new size', async (agent) => {
    const terminal = await open(agent);
    terminal.type('top\r');
    await terminal.shows(/load average[^]*PID USER/);
    terminal.socket.send(JSON.stringify({ type: 'resize', cols: 60, rows: 20 }));
    terminal.type('q');
    // Input typed before top has ended would be lost.
    await terminal.shows(/\$ $/);
    terminal.type(`until [ "$(stty size)" = "20 60" ]; do sleep 0.1; done; ${subject.interactive.program}\r`);
    // A prompt, and the moves of the cursor.
    await terminal.shows(/> \S*$/);
    terminal.type(`${subject.interactive.line}\r`);
    await terminal.shows(/plumplum/);
    terminal.socket.close();
  });

  further(`${terminals} terminals that are dropped leave no process`, async (agent) => {
    const inTerminals = (): Promise<string> => command(agent, 'ps -e -o tty= | grep -c pts || true');
    await until('none is left of the last case', 300_000, async () => (await inTerminals()) === '0');
    const all: Terminal[] = [];
    for (let i = 0; i < terminals; i += 1) all.push(await open(agent));
    for (const terminal of all) terminal.type("trap '' HUP; sleep 300 &\r");
    for (const terminal of all) await terminal.shows(/sleep 300 &\r\n[^]*\$ /);
    assert.ok(Number(await inTerminals()) >= 2 * terminals);
    for (const { socket } of all) socket.terminate();
    await until('all are gone', 300_000, async () => (await inTerminals()) === '0');
  });
}
