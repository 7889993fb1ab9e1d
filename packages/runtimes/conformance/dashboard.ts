/** Cases: the dashboard of a runtime that has one. */
import assert from 'node:assert/strict';
import { request } from 'undici';
import { launch } from '../../../tests/web/browser.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { type Tested } from './world.ts';
import { until } from './until.ts';

/** Without KVM its page and the process behind its WebSocket are slow. */
const pageTimeoutMs = 300_000;

/**
 * Does the same as the dashboard's own page for its chat: gets a ticket, and opens a WebSocket with it. Resolves with the
 * first message.
 */
const firstMessage = `(async () => {
  const asked = await fetch('/api/auth/ws-ticket', { method: 'POST' });
  const { ticket } = await asked.json();
  const socket = new WebSocket('/api/ws?ticket=' + encodeURIComponent(ticket));
  return new Promise((done) => {
    socket.onmessage = ({ data }) => done(data);
    socket.onclose = ({ code, reason }) => done('closed: ' + code + ' ' + reason);
  });
})()`;

export function dashboard(results: Results, subject: Subject, agent: () => Tested): void {
  if (!subject.hasDashboard) return;
  const { check } = results.of(agent);

  check('a dashboard comes by choice, and opens to its owner alone', async (agent) => {
    const { service } = agent.world;
    const { dashboard_url: url } = await agent.patch({ dashboard: true });
    const { host, port } = new URL(url as string);
    // In a browser the name leads to this host; here the header says it.
    const get = async (path: string, headers: Record<string, string>) => {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, { headers: { host, ...headers } });
      return { status: statusCode, text: await body.text() };
    };
    const own = { 'x-api-key': service.apiKey };
    assert.equal((await get('/', {})).status, 401);
    const page = await get('/', own);
    assert.equal(page.status, 200);
    assert.match(page.text, /<title>[^<]*Hermes/i);
    assert.equal((await get('/api/config', own)).status, 200);
  });

  check('a link opens the dashboard in a browser, and its WebSocket works', async (agent) => {
    const { service } = agent.world;
    const link = await service.call('POST', `/agents/${agent.id}/links`, { page: 'dashboard' });
    assert.equal(link.status, 201, JSON.stringify(link.body));
    const browser = await launch(Number(new URL(link.body.url as string).port));
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(pageTimeoutMs);
      const failures: string[] = [];
      page.on('requestfailed', (failed) =>
        failures.push(`${failed.method()} ${failed.url()}: ${failed.failure()?.errorText}`),
      );
      page.on('framenavigated', (frame) => failures.push(`at ${frame.url()}`));
      await page.goto(link.body.url as string);
      assert.match(await page.title(), /Hermes/i);
      await page.getByText('Sessions').first().waitFor();
      const message = await page.evaluate<string>(firstMessage).catch((error: unknown) => String(error));
      assert.match(message, /gateway\.ready/, `${message}; ${failures.join(', ')}`);
      assert.equal((await page.goto(link.body.url as string))!.status(), 404, 'a link opens once');
    } finally {
      await browser.close();
    }
  });

  check('a dashboard goes again, and leaves no process', async (agent) => {
    assert.equal((await agent.patch({ dashboard: false })).dashboard_url, null);
    await until(
      'its process is gone',
      300_000,
      async () => (await agent.shell("pgrep -f 'hermes_cli.main dashboar[d]' || true")) === '',
    );
  });
}
