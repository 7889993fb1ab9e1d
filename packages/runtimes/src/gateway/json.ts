import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';

/** A guest is not trusted: what is not JSON is null. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What is no JSON object has no fields. */
export const parseObject = (text: string): Json => asObject(parseJson(text)) ?? {};
