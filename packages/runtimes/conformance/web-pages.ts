/** Cases: the agent works on pages in the browser of its machine. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Reply } from '@lodge/testkit/llm';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { until } from './until.ts';
import type { Tested } from './world.ts';

/** The disk of the browser is made when the first agent wants one. */
const shownMs = 20 * 60_000;
const settledMs = 5 * 60_000;
const port = 8099;
const site = `http://127.0.0.1:${port}`;
/** An emulated Chromium saves a file half a minute after the click. */
const readDownload =
  'for i in $(seq 100); do cat /workspace/downloads/*report.csv 2> /dev/null && break; sleep 1; done';

export function webPages(results: Results, subject: Subject, agent: () => Tested): void {
  const { check } = results.of(agent);

  check('it fills a form in its browser and reads what it downloads, and its tab stays', async (agent) => {
    const { llm } = agent.world;
    const word = `plum-${randomBytes(6).toString('hex')}`;
    await agent.patch({ size: 'medium', browser: true });
    const state = async (): Promise<string> => (await (await agent.guest()).browser.state()).status;
    await until('it has a browser', shownMs, async () => (await state()) === 'idle');
    await until('it is set', settledMs, async () => (await agent.record()).settings_pending === false);
    await serve(agent, word);

    const { browsing } = subject;
    const steps: readonly ((last: string) => Reply)[] = [
      () => ({ toolCalls: [browsing.open(site)] }),
      () => ({ toolCalls: [browsing.look()] }),
      (last) => ({ toolCalls: [browsing.type(refIn(last, 'textbox'), word)] }),
      () => ({ toolCalls: [browsing.press('Enter')] }),
      () => ({ toolCalls: [browsing.look()] }),
      (last) => ({ toolCalls: [browsing.click(refIn(last, 'link'))] }),
      () => ({ toolCalls: [subject.work(readDownload)] }),
      () => ({ text: 'It is in.' }),
    ];
    let step = 0;
    const seen: string[] = [];
    llm.rule(({ body }) => {
      seen.push(lastResult(body));
      return steps[step++]?.(seen.at(-1)!);
    });
    assert.match(await agent.answer('Order plums', { user: 'pages' }), /It is in/, seen.join('\n'));
    assert.match(seen.at(-1)!, new RegExp(`ordered,${word}`), seen.join('\n'));

    assert.match(await pages(agent), /"title": "Ordered"/);
    await agent.patch({ browser: false, size: 'small' });
    await until('it has none', settledMs, async () => (await agent.record()).settings_pending === false);
    await agent.answer('And now?', { user: 'pages' });
    const { tools } = llm.requests.at(-1)!.body as { readonly tools: readonly object[] };
    assert.ok(!JSON.stringify(tools).includes(`"name":"${browsing.tool}"`), 'the tool is gone');
  });
}

/** A form, its answer with a link, and what the link downloads, from within the machine. */
async function serve(agent: Tested, word: string): Promise<void> {
  const program = [
    'import http.server',
    'class Site(http.server.BaseHTTPRequestHandler):',
    '  def do_GET(self):',
    '    self.send_response(200)',
    `    if self.path == "/report.csv": kind, text = "text/csv", "ordered,${word}"`,
    '    elif self.path == "/": kind, text = "text/html", "<title>Order</title><form action=/done><label>Name <input name=n></label></form>"',
    '    else: kind, text = "text/html", "<title>Ordered</title><p>Thank you</p><a href=/report.csv download>Report</a>"',
    '    self.send_header("content-type", kind)',
    '    self.end_headers()',
    '    self.wfile.write(text.encode())',
    `http.server.ThreadingHTTPServer(("127.0.0.1", ${port}), Site).serve_forever()`,
  ].join('\n');
  // A command's group is killed at its end, so it ends once the site is out of it.
  const started = `setsid python3 /tmp/site.py > /dev/null 2>&1 & until curl --silent --output /dev/null ${site}; do sleep 0.2; done`;
  await agent.shell(`cat > /tmp/site.py <<'END'\n${program}\nEND\n${started}`);
}

/** The pages that are open, as Chromium tells the host. */
async function pages(agent: Tested): Promise<string> {
  const socket = await (await agent.guest()).browser.openCdp({ start: false });
  socket.write('GET /json/list HTTP/1.1\r\nhost: 127.0.0.1:9222\r\nconnection: close\r\n\r\n');
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (/\]\s*$/.test(text)) break;
  }
  return text;
}

const refIn = (text: string, kind: string): string =>
  new RegExp(`${kind}[^\\n]{0,100}?ref=(\\w+)`).exec(text)?.[1] ?? `no-${kind}`;

/** The last result of a tool in a request, as the model reads it. */
function lastResult(body: unknown): string {
  const { messages } = body as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };
  const content = messages.findLast(({ role }) => role === 'tool')?.content ?? '';
  return (typeof content === 'string' ? content : JSON.stringify(content)).replaceAll('\\n', '\n');
}
