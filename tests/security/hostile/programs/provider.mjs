// A provider of models and two services that agents are connected to, as a process of its own: what it is sent it reads and forgets,
// so that it costs the box little. Prints its port.
import { createServer } from 'node:http';

const MiB = 1 << 20;

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'pong' }, finish_reason: 'stop' }],
  usage,
});
const event = (delta) => `data: ${JSON.stringify({ id: '1', choices: [{ index: 0, delta }] })}\n\n`;
const pieces = 2000;

/** Its bytes are those of every hexadecimal form of a secret, in no order. */
const hexadecimal = Buffer.alloc(32 * MiB, '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08');
const json = { 'content-type': 'application/json' };
const named = (_, at) => ({ name: `hex${at}`, description: 'long '.repeat(400), inputSchema: { type: 'object' } });
const tools = JSON.stringify({ tools: Array.from({ length: 128 }, named) });
const called = JSON.stringify({ content: [{ type: 'text', text: hexadecimal.toString('latin1', 0, 1.9 * MiB) }] });

/** A server of MCP without sessions: long lists of tools, long answers. */
function answerMcp(body, res) {
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) return res.writeHead(202).end();
  const { protocolVersion } = params ?? {};
  const results = {
    initialize: JSON.stringify({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'stub', version: '1' },
    }),
    'tools/list': tools,
    'tools/call': called,
  };
  return res.writeHead(200, json).end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${results[method]}}`);
}

createServer((req, res) => {
  if (req.method === 'GET') return void res.writeHead(200, { 'content-type': 'text/plain' }).end(hexadecimal);
  let end = '';
  req.on('data', (part) => (end = (end + part.toString('latin1')).slice(-4096)));
  req.on('end', () => {
    if (req.url === '/mcp') return void answerMcp(end, res);
    if (!end.includes('"stream":true')) {
      res.writeHead(200, json).end(answer);
      return;
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    let left = pieces;
    const more = () => {
      while (left > 0 && !res.destroyed) {
        left -= 1;
        if (!res.write(event({ content: 'word '.repeat(20) }))) return;
      }
      if (!res.destroyed) res.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
    };
    res.on('drain', more);
    more();
  });
}).listen(0, '127.0.0.1', function () {
  console.log(this.address().port);
});
