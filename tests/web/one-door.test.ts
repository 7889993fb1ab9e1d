/**
 * A person signed in, and the page of an agent in the same browser. The API's host lies within the agents' domain here, so the
 * page is of the same site: the browser sends our cookie with all that the page asks of us, and we refuse it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { hostOf, openAddresses } from '../e2e/agent-addresses.ts';
import { ownerOf } from '../e2e/people.ts';
import { launch, openBrowser } from './browser.ts';

const faults: string[] = [];
const addresses = await openAddresses({ withGuest: true, apiHost: 'lodge.agents.localhost' });
const { world, visitor, agentId } = addresses;
const owner = await ownerOf(world);
const api = world.origin;
let browser: Browser;
let page: Page;
before(async () => {
  browser = await launch(visitor.port);
  page = await openBrowser(browser, faults);
  await page
    .context()
    .addCookies([{ name: 'lodge_session', value: owner.token, url: api, httpOnly: true, sameSite: 'Lax' }]);
});
after(async () => {
  await browser?.close();
  await addresses.close();
});

/** The server's answers to a page's requests, in order. */
async function answersTo(work: string): Promise<{ said: unknown; answers: [string, number][] }> {
  const answers: [string, number][] = [];
  const note = (response: { url(): string; status(): number; request(): { method(): string } }): void => {
    if (response.url().startsWith(api)) answers.push([response.request().method(), response.status()]);
  };
  page.on('response', note);
  const said = await page.evaluate(`(async () => { const api = ${JSON.stringify(api)}; ${work} })()`);
  page.off('response', note);
  return { said, answers };
}

test('a page of ours reads, changes and opens a terminal by the cookie', async () => {
  // Any page of the origin does.
  await page.goto(`${api}/v1/health`);
  const csrf = world.accounts.csrfToken(owner.token);
  const { said } = await answersTo(`
    const read = await fetch('/v1/agents');
    const change = await fetch('/v1/agents/${agentId}', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-csrf-token': ${JSON.stringify(csrf)} },
      body: '{"description":"by its person"}',
    });
    const socket = new WebSocket(api.replace('http', 'ws') + '/v1/agents/${agentId}/terminal', ['lodge.terminal']);
    const opened = await new Promise((done) => {
      socket.onopen = () => done('opened');
      socket.onerror = () => done('refused');
    });
    socket.close();
    return [read.status, change.status, opened, document.cookie];
  `);
  assert.deepEqual(said, [200, 200, 'opened', '']);
});

test("a page at an agent's address can neither read nor change anything, nor open a socket or a stream, by the cookie", async () => {
  const url = new URL(await addresses.link({ path: '/page' }));
  url.port = String(visitor.port);
  await page.goto(url.href);
  await page.getByText('plum').waitFor();
  // When it was last active is written a moment after what its page did.
  const record = async () => ({ ...(await owner.call('GET', `/agents/${agentId}`)).body, last_active_at: null });
  const before = await record();
  const csrf = JSON.stringify(world.accounts.csrfToken(owner.token));
  const { said, answers } = await answersTo(`
    const path = api + '/v1/agents/${agentId}';
    const text = (promise) => promise.then((reply) => reply.text(), () => 'unreadable');
    const read = await text(fetch(path, { credentials: 'include' }));
    const opaque = await text(fetch(path, { credentials: 'include', mode: 'no-cors' }));
    const change = await text(fetch(path, {
      method: 'PATCH', credentials: 'include',
      headers: { 'content-type': 'application/json', 'x-csrf-token': ${csrf} }, body: '{"description":"stolen"}',
    }));
    const post = await text(fetch(path + '/stop', { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}' }));
    const socketTo = (path) => new Promise((done) => {
      const socket = new WebSocket(api.replace('http', 'ws') + path, ['lodge.terminal']);
      socket.onopen = () => done('opened');
      socket.onerror = () => done('refused');
    });
    const socket = await socketTo('/v1/agents/${agentId}/terminal');
    const events = await new Promise((done) => {
      const source = new EventSource(path + '/logs?follow=true', { withCredentials: true });
      source.onopen = source.onmessage = () => done('opened');
      source.onerror = () => (source.close(), done('refused'));
    });
    const script = await new Promise((done) => {
      const script = document.createElement('script');
      script.src = path + '/files/x.js';
      script.onload = () => done('run');
      script.onerror = () => done('refused');
      document.head.append(script);
    });
    return { read, opaque, change, post, socket, events, script, cookies: document.cookie };
  `);
  assert.deepEqual(said, {
    read: 'unreadable',
    opaque: '',
    change: 'unreadable',
    post: '',
    socket: 'refused',
    events: 'refused',
    script: 'refused',
    cookies: '',
  });
  // The browser reveals nothing of a reply that the page may not read; a 403 in place of a 401 shows that the cookie was
  // sent.
  assert.ok(answers.length >= 2 && answers.every(([, status]) => status === 403), JSON.stringify(answers));
  assert.deepEqual(await record(), before);
});

test(
  "a form at an agent's address posts in vain, though the browser sends the cookie with it",
  { timeout: 60_000 },
  async () => {
    await page.goto(`http://${hostOf(agentId)}:${visitor.port}/page`);
    await page.getByText('plum').waitFor();
    const answered = page.waitForResponse((response) => response.url().startsWith(api));
    await page.evaluate(`(() => {
    document.body.innerHTML = '<form method="post" enctype="text/plain" action="${api}/v1/agents/${agentId}/stop">'
      + '<input name="{}" value=""></form>';
    setTimeout(() => document.forms[0].submit());
  })()`);
    assert.equal((await answered).status(), 403);
    assert.equal((await owner.call('GET', `/agents/${agentId}`)).body.status, 'running');
  },
);
