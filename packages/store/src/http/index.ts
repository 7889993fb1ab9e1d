export { markEffective } from './idempotency.ts';
