// A provider of models as a process of its own: what it is sent it reads and forgets, so that it costs the box little. Prints its port.
import { createServer } from 'node:http';

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

createServer((req, res) => {
  let end = '';
  req.on('data', (part) => (end = (end + part.toString('latin1')).slice(-4096)));
  req.on('end', () => {
    if (!end.includes('"stream":true')) {
      res.writeHead(200, { 'content-type': 'application/json' }).end(answer);
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
