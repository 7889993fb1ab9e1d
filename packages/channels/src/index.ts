export type {} from '@lodge/ports';
