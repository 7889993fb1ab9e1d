import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { startStubLlm } from '@lodge/testkit/llm';
import { CommandError, say } from './command.ts';
import type { Command } from './command.ts';
import { stubAnswer } from './stub-llm-answers.ts';

/** Serves until it is interrupted. */
export const stubLlm: Command = async (args) => {
  const options = {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '4010' },
  } as const;
  const { values } = parseArgs({ args, options });
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new CommandError(`--port must be a port, not ${values.port}`);
  const llm = await startStubLlm({ host: values.host, port }).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`The stub cannot listen on ${values.host}:${port}: ${error.message}`, { cause: error });
  });
  llm.rule((request) => {
    const answer = stubAnswer(request);
    const [call] = answer.toolCalls ?? [];
    const does = call ? `asks for ${call.name} ${JSON.stringify(call.arguments)}` : 'answers with text';
    say(`${new Date().toISOString()}  ${request.wire} ${request.model}, ${request.tools.length} tools: ${does}`);
    return answer;
  });
  const provider = [{ id: 'stub', name: 'Stub', base_url: llm.openaiBaseUrl }];
  say(`A stub LLM answers at ${llm.openaiBaseUrl}. Start Lodge with it in another terminal:

  LODGE_PROVIDERS='${JSON.stringify(provider)}' npm start

Agents made with "model": "stub/any" then talk to it. It repeats what it is told, and "run: <command>" makes the agent
run that command in its virtual machine. Ctrl-C ends it.
`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await llm.close();
  return 0;
};
