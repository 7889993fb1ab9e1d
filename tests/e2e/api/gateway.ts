import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

const head = { id: 'c', created: 1, model: 'openclaw' };
const responseOf = (said: string) => ({
  id: 'r',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'openclaw',
  output: [
    {
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: said, annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
const chatOf = (content: string) => ({
  whole: {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  chunk: {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: 'stop' }],
  },
});

const toolReport = (phase: string): string => {
  const report = { toolCallId: 'call_1', name: 'exec', phase, status: 'completed', meta: 'run tests' };
  return `event: openclaw.tool\ndata: ${JSON.stringify(report)}\n\n`;
};

/**
 * Stands in for a runtime's gateway, on both of OpenAI's APIs, streamed where that is asked for. It says `plum` to everything; to
 * `Link /workspace/x.pdf` a link to that file. To `Speak on.` it answers without end, with a word every 50 ms where that is streamed.
 * Told `Use a tool`, it reports one first, as OpenClaw's image does.
 */
export async function startGateway(): Promise<Server> {
  const server = createServer((request, reply) => {
    void text(request).then((body): void => {
      const [, path] = /Link (\/workspace\/[\w.-]+)/.exec(body) ?? [];
      const said = path === undefined ? 'plum' : `[the file](${path})`;
      const [response, chat] = [responseOf(said), chatOf(said)];
      const { stream } = JSON.parse(body) as { stream?: boolean };
      if (body.includes('Speak on.')) return speakOn(reply, stream === true);
      const isResponses = request.url!.endsWith('/responses');
      if (stream !== true) {
        reply.setHeader('content-type', 'application/json');
        reply.end(JSON.stringify(isResponses ? response : chat.whole));
        return;
      }
      reply.setHeader('content-type', 'text/event-stream');
      if (body.includes('Use a tool')) for (const phase of ['start', 'end']) reply.write(toolReport(phase));
      const completed = { type: 'response.completed', sequence_number: 0, response };
      reply.end(
        isResponses
          ? `event: response.completed\ndata: ${JSON.stringify(completed)}\n\n`
          : `data: ${JSON.stringify(chat.chunk)}\n\ndata: [DONE]\n\n`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function speakOn(reply: ServerResponse, isStream: boolean): void {
  if (!isStream) return;
  reply.setHeader('content-type', 'text/event-stream');
  const word = { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'word ' } }] };
  const timer = setInterval(() => reply.write(`data: ${JSON.stringify(word)}\n\n`), 50);
  reply.once('close', () => clearInterval(timer));
}
