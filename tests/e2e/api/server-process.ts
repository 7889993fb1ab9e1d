/** One server as a process of its own, to be killed: settings in API_SERVER, prints its URL. */
import { startServer } from './world.ts';
import type { ServerOptions } from './world.ts';

const server = await startServer(JSON.parse(process.env['API_SERVER']!) as ServerOptions);
process.stdout.write(`${server.url}\n`);
