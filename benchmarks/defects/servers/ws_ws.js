// A WebSocket server by ws that echoes.
"use strict";
const { WebSocketServer, Server } = require("ws");

const server = new (WebSocketServer || Server)({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", (socket) => {
  socket.on("error", () => {});
  socket.on("message", (data, isBinary) => {
    const binary = isBinary === undefined ? typeof data !== "string" : isBinary;
    socket.send(binary ? data : data.toString(), { binary });
  });
});
server.on("listening", () => console.log(server.address().port));
