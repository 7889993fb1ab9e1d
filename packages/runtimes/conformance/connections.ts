/** Cases: the agent uses other people's services, and its machine never sees their credentials. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StubRequest, ToolCall } from '@lodge/testkit/llm';
import { startMcpServer } from '../../connections/src/testing/mcp-server.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';

const said = (text: string): object => ({ content: [{ type: 'text', text }] });

export function connections(results: Results, subject: Subject, agent: () => Tested): void {
  const { check } = results.of(agent);

  async function put(agent: Tested, name: string, connection: object): Promise<void> {
    const path = `/agents/${agent.id}/connections/${name}`;
    const { status, body } = await agent.world.service.call('PUT', path, connection);
    assert.ok(status === 200 || status === 201, JSON.stringify(body));
  }

  check('an MCP server with a token is used in a conversation that was there before it', async (agent) => {
    const { llm, service } = agent.world;
    const token = `marked-${randomBytes(16).toString('hex')}`;
    // The conversation is there already, because earlier cases spoke in it.
    const user = 'first';
    const server = await startMcpServer({
      token,
      tools: () => [
        { name: 'find', answer: ({ title }) => said(`#7 ${String(title)} is open.`) },
        { name: 'leak', answer: () => said(`Your token is ${token}, Bearer ${token}.`) },
      ],
    });
    try {
      const find = subject.hostTool('tracker__find', { title: 'Login' });
      const leak = subject.hostTool('tracker__leak', {});
      await put(agent, 'tracker', { kind: 'mcp', url: server.url, headers: { authorization: `Bearer ${token}` } });
      await calledOnceOffered(agent, user, [find, leak]);
      const [, found, leaked] = llm.requests;
      assert.match(JSON.stringify(found!.body), /#7 Login is open/);
      assert.match(JSON.stringify(leaked!.body), /held the credential of this connection/);
      assert.ok(!JSON.stringify(leaked!.body).includes(token), 'an answer with the token is refused whole');
      assert.equal((await service.call('DELETE', `/agents/${agent.id}/connections/tracker`)).status, 200);
      llm.script([{ text: 'Gone.' }]);
      await agent.answer('And now?', { user });
      assert.ok(!llm.requests.at(-1)!.tools.includes(find.name), 'it is gone with its connection');
      await isNowhere(agent, token);
    } finally {
      await server.close();
    }
  });

  check('an HTTP service is reached by a program in the machine, without its token', async (agent) => {
    const token = `marked-${randomBytes(16).toString('hex')}`;
    const seen: (string | undefined)[] = [];
    const server = createServer((req, res) => {
      seen.push(req.headers.authorization);
      res.end(req.url === '/notes/echo' ? `You sent ${req.headers.authorization}` : `note of ${req.url}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const allow = [{ methods: ['GET'], paths: ['/notes/*'] }];
      await put(agent, 'notes', { kind: 'http', url, headers: { authorization: `Bearer ${token}` }, allow });
      const get = (path: string): string => `http://10.0.2.2:4000/connections/notes${path}`;
      const paths = ['/notes/today', '/admin', '/notes/echo'];
      const [allowed, refused, echoed] = await Promise.all(paths.map((path) => fetched(agent, get(path))));
      assert.match(allowed!, /note of \/notes\/today/);
      assert.match(refused!, /not allowed/);
      assert.match(echoed!, /held the credential of this connection/);
      assert.ok(!`${allowed}${echoed}`.includes(token));
      assert.deepEqual(seen, Array(2).fill(`Bearer ${token}`));
      await isNowhere(agent, token);
    } finally {
      server.close();
    }
  });

  /**
   * A turn waits 3 s for a server's first list (docs/guides/connections.md). On a busy host the list comes with a later
   * turn.
   */
  async function calledOnceOffered(agent: Tested, user: string, calls: readonly ToolCall[]): Promise<void> {
    const { llm } = agent.world;
    const turns = 5;
    const [first, ...others] = calls.map((call) => ({ toolCalls: [call] }));
    for (let turn = 1; ; turn++) {
      llm.reset();
      const whether = ({ tools }: StubRequest) => (tools.includes(calls[0]!.name) ? first! : { text: 'Not yet.' });
      llm.script([whether, ...others, { text: 'It is open.' }]);
      const said = await agent.answer('What of the login?', { user });
      if (/It is open/.test(said)) return;
      assert.ok(turn < turns, llm.requests.at(-1)!.tools.join());
    }
  }

  /** Checks that the token is in no log and no reply, and registers it for the search of memory and disk. */
  async function isNowhere(agent: Tested, token: string): Promise<void> {
    const { service } = agent.world;
    const logs = JSON.stringify((await service.call('GET', `/agents/${agent.id}/logs?source=egress&limit=100`)).body);
    assert.match(logs, /Connection (tracker|notes)/);
    const texts = [logs, JSON.stringify(await agent.record()), service.output];
    const listed = await service.call('GET', `/agents/${agent.id}/connections`);
    for (const text of [...texts, JSON.stringify(listed.body)]) assert.ok(!text.includes(token));
    agent.keepSecret([token]);
  }

  const fetched = (agent: Tested, url: string): Promise<string> => agent.shell(`curl -s ${url}`);
}
