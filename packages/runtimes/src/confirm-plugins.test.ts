/** Tests the plugins of the images, by which the runtimes ask before commands. A server stands in for the host's door. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';

const images = join(import.meta.dirname, '../../../images');
const openclawPlugin = join(images, 'openclaw/files/opt/lodge/plugins/lodge-confirm/index.js');
const hermesPlugin = join(
  images,
  'hermes/files/opt/hermes/lib/python3.11/site-packages/plugins/lodge-confirm/__init__.py',
);

interface Question {
  readonly tool: string;
  readonly text: string;
  readonly detail: string;
  readonly digest: string;
}

const folder = mkdtempSync(join(tmpdir(), 'lodge-confirm-'));
const settings = join(folder, 'confirm.json');
let asked: Question[] = [];
let answer: (question: Question) => string = () => '{}';
const door = createServer((req, res) => {
  void req.toArray().then((chunks) => {
    const question = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as Question;
    asked.push(question);
    res.end(answer(question));
  });
});
let port = 0;

before(async () => {
  await once(door.listen(0, '127.0.0.1'), 'listening');
  ({ port } = door.address() as AddressInfo);
});
after(() => {
  door.closeAllConnections();
  door.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  asked = [];
  answer = ({ text }) =>
    JSON.stringify(text.includes('push') ? { verdict: 'denied', message: 'No.' } : { verdict: 'allowed', message: '' });
  writeFileSync(settings, '{"commands":true}\n');
});

type Use = readonly [tool: string, args: object];

/** Returns the sentence with which each use was refused; null where it is not. */
async function inOpenclaw(uses: readonly Use[], at = `http://127.0.0.1:${port}/confirm`) {
  const plugin = (await import(openclawPlugin)) as {
    readonly askingAt: (
      places: object,
    ) => (event: object, context: object) => Promise<{ readonly blockReason: string }>;
  };
  const hook = plugin.askingAt({ settings, door: at });
  const said: (string | null)[] = [];
  for (const [toolName, params] of uses) said.push((await hook({ toolName, params }, {}))?.blockReason ?? null);
  return said;
}

const runHermes = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("plugin", sys.argv[1])
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)
plugin.SETTINGS, plugin.DOOR = sys.argv[2], ("127.0.0.1", int(sys.argv[3]))
hooks = {}
plugin.register(type("Context", (), {"register_hook": lambda self, name, hook: hooks.update({name: hook})})())
said = [hooks["pre_tool_call"](tool_name=tool, args=args, session_id="s") for tool, args in json.loads(sys.argv[4])]
print(json.dumps([one and [one["action"], one["message"]] for one in said]))
`;

async function inHermes(uses: readonly Use[], at = port) {
  const args = ['-B', '-c', runHermes, hermesPlugin, settings, String(at), JSON.stringify(uses)];
  const { stdout } = await promisify(execFile)('python3', args);
  return (JSON.parse(stdout) as (readonly [string, string] | null)[]).map((one) => {
    if (one !== null) assert.equal(one[0], 'block');
    return one?.[1] ?? null;
  });
}

const texts = (): string[] => asked.map(({ text }) => text);

test('OpenClaw asks before commands, input for them, and changes of files', async () => {
  const patch =
    '*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** Delete File: /etc/c\n*** End Patch';
  const said = await inOpenclaw([
    ['exec', { command: 'ls' }],
    ['exec', { command: 'git push', timeout: 5 }],
    ['process', { action: 'poll', sessionId: 's' }],
    ['process', { action: 'write', sessionId: 's', data: 'git push\n' }],
    ['write', { path: 'notes/../.env', content: 'x'.repeat(9_000) }],
    ['edit', { path: '/tmp/x', edits: [] }],
    ['apply_patch', { input: patch }],
  ]);
  assert.deepEqual(said, [null, 'No.', null, 'No.', null, null, null]);
  assert.deepEqual(texts(), [
    'ls',
    'git push',
    'git push\n',
    'write /workspace/.env',
    'write /tmp/x',
    'write /workspace/a.py\nwrite /workspace/b.py\nwrite /etc/c',
  ]);
  assert.ok(asked.every(({ detail, digest }) => detail.length <= 4_000 && /^[0-9a-f]{64}$/.test(digest)));
});

test('Hermes asks before commands, input for them, code, and changes of files', async () => {
  const patch = '*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Move File: b -> c\n*** End Patch';
  const said = await inHermes([
    ['terminal', { command: 'ls' }],
    ['terminal', { command: 'git push' }],
    ['process', { action: 'poll', session_id: 's' }],
    ['process', { action: 'submit', session_id: 's', data: 'git push' }],
    ['execute_code', { code: 'print("ä")' }],
    ['write_file', { path: 'notes/../.env', content: 'x'.repeat(9_000) }],
    ['patch', { mode: 'replace', path: '/tmp/x' }],
    ['patch', { mode: 'patch', patch }],
    ['skill_manage', { action: 'create', name: 'n' }],
    ['read_file', { path: 'x' }],
  ]);
  assert.deepEqual(said, [null, 'No.', null, 'No.', null, null, null, null, null, null]);
  assert.deepEqual(texts(), [
    'ls',
    'git push',
    'git push',
    'print("ä")',
    'write /workspace/.env',
    'write /tmp/x',
    'write /workspace/a.py\nwrite /workspace/b\nwrite /workspace/c',
    'skill create n',
  ]);
  assert.ok(asked.every(({ detail, digest }) => detail.length <= 4_000 && /^[0-9a-f]{64}$/.test(digest)));
});

for (const [name, use, command] of [
  [
    'OpenClaw',
    (at?: boolean) => inOpenclaw([['exec', { command: 'x' }]], at ? 'http://127.0.0.1:1/confirm' : undefined),
    'exec',
  ],
  ['Hermes', (at?: boolean) => inHermes([['terminal', { command: 'x' }]], at ? 1 : undefined), 'terminal'],
] as const) {
  test(`${name} asks nobody without rules, and runs nothing where it cannot ask`, async () => {
    const [unasked] = await use(true);
    assert.match(unasked ?? '', /could not be asked/, command);
    for (const reply of ['<html>', '[]', '{"verdict":"undecided","message":""}']) {
      answer = () => reply;
      assert.match((await use())[0] ?? '', /could not be asked/, reply);
    }
    asked = [];
    writeFileSync(settings, '{"commands":false}\n');
    assert.deepEqual(await use(true), [null]);
    rmSync(settings);
    assert.deepEqual(await use(true), [null]);
    assert.deepEqual(asked, []);
  });
}
