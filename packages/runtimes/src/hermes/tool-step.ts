import type { Json } from '@lodge/domain';
import type { ReportedStep } from '@lodge/ports';
import { textField } from '../gateway/json.ts';

/** Reads Hermes' report of a tool. It does not say whether a tool failed, and a tool without a better label has its name. */
export function toolStep(event: string, data: Json): ReportedStep | null {
  if (event !== 'hermes.tool.progress') return null;
  const isStart = data['status'] === 'running';
  if (!isStart && data['status'] !== 'completed') return null;
  const tool = textField(data, 'tool');
  const label = textField(data, 'label');
  return {
    call: textField(data, 'toolCallId'),
    tool,
    status: isStart ? 'started' : 'completed',
    title: label === tool ? '' : label,
  };
}
