export const tags = ['Sign-in'];
