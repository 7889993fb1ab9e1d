// The official client of the Model Context Protocol for Node.js, as a program in an agent's machine uses it.
// Takes calls as JSON, [[tool, arguments], …]; prints {names, answers: [{isError, text}]}.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const installed = createRequire('/opt/openclaw/node_modules/openclaw/package.json');
const part = (path) => import(pathToFileURL(installed.resolve(`@modelcontextprotocol/sdk/${path}`)).href);
const { Client } = await part('client/index.js');
const { StreamableHTTPClientTransport } = await part('client/streamableHttp.js');

const client = new Client({ name: 'conformance', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL('http://10.0.2.2:4000/mcp')));
const names = (await client.listTools()).tools.map(({ name }) => name);
const answers = [];
for (const [name, args] of JSON.parse(process.argv[2])) {
  const { isError, content } = await client.callTool({ name, arguments: args }, undefined, { timeout: 240_000 });
  answers.push({ isError: isError === true, text: content.map(({ text }) => text).join('\n') });
}
await client.close();
console.log(JSON.stringify({ names, answers }));
