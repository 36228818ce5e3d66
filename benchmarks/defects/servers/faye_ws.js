// A WebSocket server by faye-websocket that echoes.
"use strict";
const http = require("http");
const WebSocket = require("faye-websocket");

const server = http.createServer((request, response) => {
  response.writeHead(426, { "Content-Length": 0 });
  response.end();
});
server.on("upgrade", (request, socket, body) => {
  const peer = new WebSocket(request, socket, body);
  peer.on("message", (event) => peer.send(event.data));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
