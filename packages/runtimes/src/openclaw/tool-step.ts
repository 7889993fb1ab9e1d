import type { Json } from '@lodge/domain';
import type { ReportedStep } from '@lodge/ports';
import { textField } from '../gateway/json.ts';

/**
 * Reads OpenClaw's report of a tool. The image adds the event to the stream of a chat completion (`images/openclaw/recipe.json`):
 * OpenClaw itself tells it only at its own WebSocket.
 */
export function toolStep(event: string, data: Json): ReportedStep | null {
  if (event !== 'openclaw.tool') return null;
  const isStart = data['phase'] === 'start';
  if (!isStart && data['phase'] !== 'end') return null;
  return {
    call: textField(data, 'toolCallId'),
    tool: textField(data, 'name'),
    status: isStart ? 'started' : data['status'] === 'completed' ? 'completed' : 'failed',
    title: textField(data, 'meta'),
  };
}
