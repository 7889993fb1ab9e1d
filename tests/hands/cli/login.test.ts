/** `lodge login` by a code that a person approves in the browser, as the account area does it. */
import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { ownerOf } from '../../e2e/people.ts';
import type { Person as Owner } from '../../e2e/people.ts';
import { newPerson } from './command.ts';
import type { Person } from './command.ts';

describe('signing in', () => {
  let world: World;
  let person: Person;
  let owner: Owner;
  before(async () => {
    world = await openWorld({ loops: false });
    [person, owner] = await Promise.all([newPerson(), ownerOf(world)]);
  });
  after(() => Promise.all([world.close(), person.remove()]));

  const codeIn = (text: string): string => /Your code: (\S+)\n/.exec(text)![1]!;

  test('the command shows a code, the person approves it, and the machine has a key until it signs out', async () => {
    const browser = join(person.home, 'browser');
    await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > ${person.home}/opened\n`);
    await chmod(browser, 0o755);
    const running = person.begin(['login', world.url, '--context', 'mine'], { input: '', env: { BROWSER: browser } });
    await running.tells(/user_code=\S+\n/);
    const code = codeIn(running.stderr);
    const asked = await owner.call('POST', '/account/device', { user_code: code });
    assert.equal(asked.status, 200, asked.text);
    assert.match(asked.body.client_name, /^lodge on /);
    assert.equal(
      (
        await owner.call('POST', '/account/device/decision', {
          user_code: code,
          approve: true,
          scopes: asked.body.scopes,
        })
      ).status,
      200,
    );
    const { code: ended, stdout, stderr } = await running.ended();
    assert.equal(ended, 0, stderr);
    assert.equal(stdout, `Signed in to ${world.url} as Ada, as the context mine.\n`);
    assert.match(
      await readFile(join(person.home, 'opened'), 'utf8'),
      new RegExp(`/account/device\\?user_code=${code}$`),
    );

    const keys = JSON.parse(await readFile(join(person.home, 'config/lodge/keys.json'), 'utf8'));
    assert.ok(!(stdout + stderr).includes(keys.mine));
    assert.equal((await person.lodge(['agents', 'list'])).code, 0);

    const out = await person.lodge(['logout']);
    assert.equal(out.stdout, `Signed out of mine (${world.url}). The key was revoked.\n`);
    assert.equal((await person.lodge(['agents', 'list'])).code, 3);
    const revoked = await person.lodge(['agents', 'list'], { env: { LODGE_URL: world.url, LODGE_API_KEY: keys.mine } });
    assert.equal(revoked.code, 3);
  });

  test('a request that is denied, and one that is interrupted, leave nothing behind', async () => {
    const denied = person.begin(['login', world.url, '--context', 'never', '--no-browser', '--scopes', 'agents:read'], {
      input: '',
    });
    const stopped = person.begin(['login', world.url, '--context', 'never', '--no-browser'], { input: '' });
    await Promise.all([denied.tells(/user_code=\S+\n/), stopped.tells(/user_code=\S+\n/)]);
    const decision = { user_code: codeIn(denied.stderr), approve: false };
    assert.equal((await owner.call('POST', '/account/device/decision', decision)).status, 200);
    stopped.kill('SIGINT');
    assert.equal((await stopped.ended()).code, 130);
    const { code, stderr } = await denied.ended();
    assert.equal(code, 3);
    assert.match(stderr, /Error: The request was denied in the browser\./);
    assert.doesNotMatch((await person.lodge(['context', 'list'])).stdout, /never/);
  });

  test('scopes that do not exist are refused with a sentence', async () => {
    const { code, stderr } = await person.lodge(['login', world.url, '--no-browser', '--scopes', 'everything']);
    assert.equal(code, 2);
    assert.match(stderr, /^Error: scope must be words of agents:read/);
  });
});
