/** Raw node:http that answers with RAW_ONE: what a request costs at the very least. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const value: unknown = JSON.parse(process.env['RAW_ONE']!);
const server = createServer((_request, response) => {
  const body = JSON.stringify(value);
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
