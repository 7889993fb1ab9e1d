// Runs in a guest in the place of a runtime's gateway: answers a chat by one call of the model, or as the file /srv/mode says.
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';

const MiB = 1 << 20;

const modeNow = () => {
  try {
    return readFileSync('/srv/mode', 'utf8');
  } catch {
    return 'honest';
  }
};

const said = (content) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'agent',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

function askModel() {
  return new Promise((resolve, reject) => {
    const options = { host: '10.0.2.2', port: 4000, method: 'POST', path: '/openai/v1/chat/completions' };
    const req = request({ ...options, headers: { 'content-type': 'application/json' } }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part) => (text += part));
      res.on('end', () => (res.statusCode === 200 ? resolve(text) : reject(new Error(`${res.statusCode} ${text}`))));
    });
    req.on('error', reject);
    req.end(JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'ping' }] }));
  });
}

const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };

/** Keeps a reply going by what `next` gives, as fast as it is read. */
function pour(res, next) {
  const more = () => {
    while (!res.destroyed && res.write(next()));
  };
  res.on('drain', more);
  more();
}

const modes = {
  honest: async (res, streams) => {
    const text = await askModel();
    const { content } = JSON.parse(text).choices[0].message;
    if (!streams) return void res.writeHead(200, json).end(JSON.stringify(said(content)));
    const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'agent' };
    const choices = [{ index: 0, delta: { content }, finish_reason: null }];
    res.writeHead(200, events).end(`data: ${JSON.stringify({ ...chunk, choices })}\n\ndata: [DONE]\n\n`);
  },
  'empty lists': (res) => res.writeHead(200, json).end(`{"choices":[${'[],'.repeat(5 * MiB)}[]]}`),
  'deep objects': (res) => res.writeHead(200, json).end('{"a":'.repeat(2 * MiB) + '1' + '}'.repeat(2 * MiB)),
  'an answer of quotes': (res) => res.writeHead(200, json).end(JSON.stringify(said('"\\'.repeat(3 * MiB)))),
  'a stream without lines': (res) => {
    res.writeHead(200, events);
    res.write('data: ');
    pour(res, () => 'a'.repeat(64));
  },
  'a stream of commas': (res) => {
    res.writeHead(200, events);
    pour(res, () => `data: [${'[],'.repeat(20_000)}[]]\n\n`);
  },
  'a stream of nothing': (res) => {
    res.writeHead(200, events);
    pour(res, () => '\n\n:\n\n'.repeat(1000));
  },
  'headers without end': (res) => {
    res.socket.write('HTTP/1.1 200 OK\r\n');
    pour(res.socket, () => `x: ${'y'.repeat(1000)}\r\n`);
  },
  'another protocol': (res) =>
    res.socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  silence: () => {},
};

createServer((req, res) => {
  let end = '';
  req.on('data', (part) => (end = (end + part.toString('latin1')).slice(-4096)));
  req.on('end', () => {
    Promise.resolve(modes[modeNow()](res, end.includes('"stream":true'))).catch((error) => {
      if (!res.headersSent) res.writeHead(502, json);
      res.end(JSON.stringify({ error: { message: String(error.message).slice(0, 500) } }));
    });
  });
}).listen(18789, '0.0.0.0');
