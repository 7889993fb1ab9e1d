// Uses the installed package on any platform, against the Lodge that its arguments name. Prints `ok` at the end.
import { Lodge, NotFoundError, verifyWebhook } from '@lodge/sdk';

/** In a page it is called with the arguments; elsewhere they come from the command line. */
export async function use(baseUrl, apiKey) {
  const said = [];
  const lodge = new Lodge({ baseUrl, apiKey });
  const { id } = await lodge.agents.create({ name: 'packed' });
  await lodge.agents.waitUntil(id, 'running');
  const names = [];
  for await (const { name } of lodge.agents.list({ limit: 1 })) names.push(name);
  said.push(names.includes('packed'));
  await lodge.files.write(id, 'folder/ä.txt', 'text of a file');
  said.push((await (await lodge.files.read(id, 'folder/ä.txt')).text()) === 'text of a file');
  await lodge.files.write(id, 'stream.txt', new Blob(['from a stream']).stream());
  said.push((await (await lodge.files.read(id, 'stream.txt', { from: 5 })).text()) === 'a stream');
  const events = [];
  for await (const { event } of lodge.exec.stream(id, { command: 'echo one; exit 3' })) events.push(event);
  said.push(events.join() === 'stdout,exit');
  said.push((await lodge.chat.ask(id, 'Say a fruit')) === 'plum');
  for await (const { type } of lodge.events.follow({ agent_id: id, limit: 5 })) {
    said.push(type.startsWith('agent.'));
    break;
  }
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 100);
  const reason = await lodge.exec.run(id, { command: 'sleep 60' }, { signal: stop.signal }).catch((error) => error);
  said.push(reason.name === 'AbortError');
  said.push((await lodge.agents.get('aaaaaaaaaaaa').catch((error) => error)) instanceof NotFoundError);
  if (globalThis.WebSocket !== undefined) {
    const terminal = await lodge.terminal.open(id, { cols: 90, rows: 20 });
    terminal.write('stty size; exit 7\n');
    let shown = '';
    for await (const chunk of terminal.output) shown += new TextDecoder().decode(chunk);
    said.push(shown.includes('20 90') && (await terminal.closed).exitCode === 7);
  }
  // WebCrypto is for secure pages: 127.0.0.1 is one.
  const secret = `whsec_${btoa('a secret of some length')}`;
  const forged = {
    'webhook-id': 'x',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': 'v1,AAAA',
  };
  said.push((await verifyWebhook('{}', forged, secret).catch((error) => error.name)) === 'SignatureError');
  await lodge.agents.delete(id);
  return said.every(Boolean) ? 'ok' : said.join();
}

if (globalThis.process?.argv?.[3] !== undefined) {
  const [, , baseUrl, apiKey, folder] = process.argv;
  const outcome = await use(baseUrl, apiKey);
  const { uploadFolder, downloadFolder } = await import('@lodge/sdk/node');
  const lodge = new Lodge({ baseUrl, apiKey });
  const { id } = await lodge.agents.create({ name: 'folders' });
  const sent = await uploadFolder(lodge, id, folder, 'there');
  const got = await downloadFolder(lodge, id, 'there', `${folder}-back`);
  await lodge.agents.delete(id);
  console.log(sent.files === 2 && got.files === 2 ? outcome : `folders: ${sent.files}, ${got.files}`);
}
